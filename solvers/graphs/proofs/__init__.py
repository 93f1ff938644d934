"""Proofs of upper bounds on a maximum cut, checked from the graph alone by code that no solver shares."""
