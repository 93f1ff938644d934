"""Words under ``/v1/auctions/`` that name operations, so that no auction's id can be one."""

AUCTION_ID_PREFIX = "auc_"
"""Begins the id of every auction."""

RESERVED_WORDS = frozenset({"instances", "simulations", "experiments", "mvnn", "wdp", "vcg", "core-payments", "rp-bounds"})
"""First words of the operations' paths, never an auction's id."""
