"""Graph problems approximated with predictions, each answer with a proven bound."""
