"""The Matrix Market exchange format, coordinate form: the entries of a weighted adjacency matrix, ids from 1."""

from __future__ import annotations

import numpy as np

from solvers.graphs.arrays import as_written
from solvers.graphs.formats.text import MalformedLine, NumberLines, Text
from solvers.graphs.graph import Graph, Source, without_mirror_images

BANNER = b"%%matrixmarket"


def read_matrix_market(text: Text, source: Source) -> Graph:
    """Return the graph whose adjacency matrix a Matrix Market text holds.

    In a `general` matrix (i, j) and (j, i) of equal value are one edge, and an entry without its image is an edge too.

    Raises
    ------
    InvalidGraph
        If the banner names no real symmetric or general matrix, a line is malformed, the size line disagrees with the entries, or
        two mirrored entries differ.
    """
    num_fields = _fields_per_entry(text)
    found = text.body.filled()
    sizes = NumberLines(found.first(), found.fields[:1], found.lines[:1])
    if not len(found) or len(sizes.numbers) != 3 or (sizes.integers() < 0).any():
        raise MalformedLine(int(found.lines[0]) if len(found) else 1, "the size line should be 'ROWS COLUMNS ENTRIES'")
    num_rows, num_columns, num_entries = sizes.integers().tolist()
    if num_rows != num_columns:
        raise MalformedLine(
            found.lines[0], f"an adjacency matrix is square; this one has {num_rows} rows and {num_columns} columns"
        )

    body = found.after(1)
    if len(body) != num_entries:
        raise MalformedLine(found.lines[0], f"the size line promises {num_entries} entries; there are {len(body)}")
    wrong = body.fields != num_fields
    if wrong.any():
        line = int(np.argmax(wrong))
        raise MalformedLine(body.lines[line], f"{body.fields[line]} fields in place of {num_fields}")
    begins = np.arange(len(body)) * num_fields
    entries = body.integers_at(np.column_stack([begins, begins + 1]).ravel()).reshape(-1, 2)
    values = body.numbers[begins + 2] if num_fields == 3 else None
    return without_mirror_images(Graph(num_rows, entries, values, index_base=1, source=source.on_lines(body.lines)))


def _fields_per_entry(text: Text) -> int:
    banner = [field.lower() for field in text.fields(0)] if len(text) else []
    if len(banner) != 5 or banner[0] != BANNER or banner[1] != b"matrix":
        raise MalformedLine(1, "the banner should be '%%MatrixMarket matrix coordinate FIELD SYMMETRY'")
    form, field, symmetry = (word.decode("utf-8", "replace") for word in banner[2:])
    if form != "coordinate":
        raise MalformedLine(1, f"the matrix is in {as_written(form)} form; only 'coordinate' is read")
    if field not in ("real", "integer", "double", "pattern"):
        raise MalformedLine(1, f"the entries are {as_written(field)}; the weights of edges are real, integer or pattern")
    if symmetry not in ("symmetric", "general"):
        raise MalformedLine(1, f"the matrix is {as_written(symmetry)}; an undirected graph needs a symmetric or general one")
    return 2 if field == "pattern" else 3
