"""The operations under ``gam/``: fit a model to a table, apply it, edit it, take it home, and say how good it is."""
