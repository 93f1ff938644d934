"""Optimisation models: generation, narration, checking, comparison and benchmarking."""
