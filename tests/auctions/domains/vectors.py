"""The SATS test vectors, and which function draws the instance that each is about."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from auctions.domains import Instance, gsvm, lsvm, mrvm, srvm

VECTORS = Path(__file__).parents[2] / "data" / "sats"

DRAW = {"GSVM": gsvm, "LSVM": lsvm, "SRVM": srvm, "MRVM": mrvm}


@cache
def vectors(name: str) -> Any:
    """Return a file of test vectors."""
    return json.loads((VECTORS / f"{name}.json").read_text())


@cache
def drawn(domain: str, seed: int) -> Instance:
    """Return an instance with default parameters; shared, so that its tables are made once."""
    return DRAW[domain](seed)
