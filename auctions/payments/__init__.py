"""Payments: what the winners of an allocation pay."""
