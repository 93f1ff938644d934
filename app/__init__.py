"""The service: turns the operations of the libraries into endpoints, jobs, commands and client methods."""
