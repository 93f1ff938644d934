"""Monotone value networks: what a bidder's answers say about its value of every bundle."""
