"""Formats told by the content of a text."""

import pytest

from solvers.graphs.formats import AmbiguousFormat, sniff_format


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("%%MatrixMarket matrix coordinate real general\n1 1 0\n", "matrix_market"),
        ("%%matrixmarket MATRIX coordinate real general\n1 1 0\n", "matrix_market"),
        ('  {"nodes": []}', "node_link"),
        ("c a comment\n\nc\np td 3 2\n1 2\n2 3\n", "pace"),
        ("c a comment\np edge 3 2\ne 1 2\ne 2 3\n", "dimacs"),
        ("p col 3 2\ne 1 2\ne 2 3\n", "dimacs"),
        ("3 2\n1 2\n2 3\n", "rudy"),
        ("# 800 vertices\n3 2\n1 2 -1\n2 3 1\n", "rudy"),
        ("3 2\n2\n1 3\n2\n", "metis"),
        ("3 2\n2\n1 3\n2\n\n", "metis"),
        ("% c\n3 1 011\n5 2 7\n5 1 7\n5\n", "metis"),
        ("5 0\n\n\n\n\n\n", "metis"),
        ("3 0\n", "rudy"),
        ("0 0\n", "metis"),
        ("2 2\n2 1\n1 2\n", "rudy"),
        ("1 2\n2 3\n3 4\n", "edge_list"),
        ("0 1\n", "edge_list"),
        ("3 2\n1 2\n2 3\n1 3\n", "edge_list"),
        ("3 2\n1 7\n", "edge_list"),
        ("3 4\n1 2\n", "edge_list"),
        ("3 2 5\n1 2 1\n2 3 1\n", "edge_list"),
        ("a b\nb c\n", "edge_list"),
        ("1.5 2\n", "edge_list"),
        ("inf nan\n1 2\n", "edge_list"),
        ("7 2\n1 nan\n3 4\n", "edge_list"),
        ("cab p\n", "edge_list"),
        ("", "edge_list"),
        ("# nothing\n", "edge_list"),
    ],
)
def test_the_format_is_told_by_the_content(text: str, format: str) -> None:
    assert sniff_format(text) == format


@pytest.mark.parametrize("text", ["3 2\n1 2\n", "5 4\n4 3\n3 1\n", "3 2\n"])
def test_a_rudy_file_that_may_be_cut_off_is_ambiguous(text: str) -> None:
    with pytest.raises(AmbiguousFormat) as caught:
        sniff_format(text)

    assert caught.value.problem()["type"] == "ambiguous-format"
    assert caught.value.status == 422
