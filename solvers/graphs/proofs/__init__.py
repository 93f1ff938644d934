"""Proofs of upper bounds on a maximum cut, each checked from the graph alone and sharing no code with the solvers that found it."""
