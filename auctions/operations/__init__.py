"""Auctions as operations of the service: instances, value models, winner determination, payments, simulations and experiments."""
