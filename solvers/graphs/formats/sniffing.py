"""Which format a text is in, told by its content alone."""

from __future__ import annotations

import numpy as np

from solvers.graphs.formats.matrix_market import BANNER
from solvers.graphs.formats.metis import read_metis
from solvers.graphs.formats.text import NumberLines, Text
from solvers.graphs.graph import InvalidGraph, Source
from solvers.operation import InvalidInput


class AmbiguousFormat(InvalidInput):
    """A text may be an edge list or the beginning of a rudy file; the caller has to say which."""

    type = "ambiguous-format"
    title = "The format of the text is ambiguous"


def sniff(text: Text) -> str:
    r"""Return the name of the format that a text is in.

    Told in this order: the banner of Matrix Market; ``{`` of node-link; a ``p`` line after lines ``c``; then by the first line
    ``a b``, whether the rest is an adjacency (METIS) or so many edges (rudy); else it is an edge list.

    Raises
    ------
    AmbiguousFormat
        If fewer edges follow than a rudy header would promise.

    Examples
    --------
    >>> sniff(Text("3 2\n1 2\n2 3\n"))
    'rudy'
    """
    start = text.content.lstrip()
    if start[: len(BANNER)].lower() == BANNER:
        return "matrix_market"
    if start.startswith(b"{"):
        return "node_link"
    lines = np.flatnonzero((text.first_bytes != 0) & (text.first_bytes != ord("c")))
    fields = text.fields(int(lines[0])) if len(lines) else []
    if fields[:1] == [b"p"]:
        return "pace" if fields[1:2] == [b"td"] else "dimacs"
    try:
        found = text.body
        return _by_first_line(text, found.after(int(np.argmax(found.fields > 0)) if len(found) else 0))
    except InvalidGraph:
        return "edge_list"


def _by_first_line(text: Text, found: NumberLines) -> str:
    header = found.first()
    if len(header) < 2 or not (np.isfinite(header[:2]) & (header[:2] == np.rint(header[:2]))).all():
        return "edge_list"
    a, b = (int(count) for count in header[:2])
    rest = found.after(1)
    if 0 <= a <= len(rest) and not rest.after(a).fields.any() and _is_metis(text):
        return "metis"
    if len(header) != 2:
        return "edge_list"

    edges = rest.filled()
    begins = np.cumsum(edges.fields) - edges.fields
    has_two_ids = edges.fields >= 2
    ids = np.concatenate([edges.numbers[begins[has_two_ids]], edges.numbers[begins[has_two_ids] + 1]])
    fit = bool((ids <= a).all())
    if len(edges) == b and bool(((edges.fields == 2) | (edges.fields == 3)).all()) and fit and bool((ids >= 1).all()):
        return "rudy"
    if 0 <= b <= a * (a - 1) // 2 and fit and len(edges) < b:
        raise AmbiguousFormat(
            f"the text may be an edge list, or a rudy file of {a} vertices that was cut off after {len(edges)} of {b} edges; "
            "name the format"
        )
    return "edge_list"


def _is_metis(text: Text) -> bool:
    try:
        read_metis(text, Source())
    except InvalidGraph:
        return False
    return True
