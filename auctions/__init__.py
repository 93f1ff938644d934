"""Combinatorial auctions: value domains, bidders, value models, winner determination and the MLHCA mechanism."""
