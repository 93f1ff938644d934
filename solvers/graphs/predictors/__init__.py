"""Predictors: what past solved instances say about the solution of a new one, as predictions that a solve takes as they are."""
