"""Set cover files are told apart by their content, and what is wrong with one is named with its line."""

import numpy as np
import pytest

from solvers.graphs.formats.set_cover import SET_COVER_FORMATS, read_set_system
from solvers.operation import InvalidInput
from tests.solvers.graphs.set_systems import BEST_KNOWN, DATA

SIZES = {
    "scp41": (1000, 200, 4009), "scp51": (2000, 200, 7995), "scp61": (1000, 200, 9836), "scpa1": (3000, 300, 18091),
    "scpclr10": (210, 511, 13230), "scpcyc06": (192, 240, 960), "scpe1": (500, 50, 4914), "stn27": (27, 117, 351),
    "stn45": (45, 330, 990),
}  # fmt: skip

ORLIB = "3 2\n5 7\n1 1\n2 1 2\n1 2\n"
RAIL = "3 2\n5 2 1 2\n7 2 2 3\n"
STEINER = "4 2\n1 2 3\n2 3 4\n"


def fits(text, name):
    try:
        read_set_system(text, name)
    except InvalidInput:
        return False
    return True


@pytest.mark.parametrize("name", BEST_KNOWN)
def test_every_shipped_file_fits_exactly_one_format_and_is_read_in_it(name):
    text = (DATA / "setcover" / f"{name}.txt").read_bytes()

    system, found = read_set_system(text)

    assert found == ("steiner" if name.startswith("stn") else "orlib")
    assert [one for one in SET_COVER_FORMATS if fits(text, one)] == [found]
    assert (system.num_sets, system.num_elements, len(system.elements)) == SIZES[name]


@pytest.mark.parametrize("text", [ORLIB, RAIL])
def test_the_same_system_in_two_formats(text):
    system, _ = read_set_system(text)

    assert system.costs.tolist() == [5, 7]
    assert [row.tolist() for row in np.split(system.elements, system.set_ptr[1:-1])] == [[0, 1], [1, 2]]
    assert system.index_base == 1


def test_formats_are_told_by_the_first_that_fits():
    assert [read_set_system(text)[1] for text in (ORLIB, RAIL, STEINER)] == ["orlib", "rail", "steiner"]


def test_line_breaks_and_comments_mean_nothing():
    assert read_set_system("# a comment\n3 2 5 7 1\n1 2 1\n\n2 1 2")[0].elements.tolist() == [0, 1, 1, 2]


def test_costs_may_be_fractions():
    assert read_set_system("1 2\n0.5 1.5\n2 1 2\n")[0].costs.tolist() == [0.5, 1.5]


@pytest.mark.parametrize(
    ("text", "format", "line", "complaint"),
    [
        ("3 2\n5 7\n1 1\n2 1 3\n1 2\n", "orlib", 4, "there is no set 3; ids go from 1 to 2"),
        ("3 2\n5 7\n1 1\n2 1 2\n1 2\n9\n", "orlib", 6, "numbers follow the last row"),
        ("3 2\n5 7\n1 1\n2 1 2\n2 2\n", "orlib", 5, "the text ends in the middle of a row"),
        ("3 2\n5 7\n1 1\n-1 2\n2 1 2\n", "orlib", 4, "-1 stands where the length of a row belongs"),
        ("3 2\n5 7\n1 1.5\n2 1 2\n1 2\n", "orlib", 3, "1.5 stands where an integer belongs"),
        ("3 2\n5\n", "orlib", 2, "the text ends before all 2 costs"),
        ("3 x\n", "orlib", 1, "'x' is not a number"),
        ("3\n", "rail", 1, "the header should be the numbers of elements and sets"),
        ("3 2\n5 2 1 9\n7 2 2 3\n", "rail", 2, "there is no element 9; ids go from 1 to 3"),
        ("4 2\n1 2 3\n2 3\n", "steiner", 1, "2 triples are promised; 5 numbers follow the header"),
        ("1000000000000 1\n1 2 3\n", "steiner", 1, "1000000000000 sets are promised; only 3 ids follow"),
        ("1000000000000 1\n1\n1 1\n", "orlib", 1, "1000000000000 rows are promised; only 5 numbers follow"),
    ],
)
def test_a_malformed_file_names_the_line(text, format, line, complaint):
    with pytest.raises(InvalidInput) as raised:
        read_set_system(text, format, pointer="/graph/file")

    assert complaint in raised.value.detail
    assert raised.value.members["line"] == line
    assert raised.value.pointer == "/graph/file"


@pytest.mark.parametrize("cost", ["-5", "nan", "inf", "1e999"])
@pytest.mark.parametrize(("text", "line"), [("1 2\n3 {}\n1 1\n", 2), ("1 2\n3 1 1\n{} 1 1\n", 3)])
def test_costs_that_are_none_point_at_the_text_and_name_the_line(text, line, cost):
    with pytest.raises(InvalidInput, match=r"set 2 costs -?(5|nan|inf)") as raised:
        read_set_system(text.format(cost))

    assert (raised.value.pointer, raised.value.members["line"]) == ("/graph/text", line)


def test_a_text_in_no_format_says_why_for_each():
    with pytest.raises(InvalidInput, match=r"no known format; not orlib: line 3: .*; not rail: .*; not steiner: line 1"):
        read_set_system("3 2\n1 2\n2 3\n")


def test_an_unknown_format_is_refused_by_name():
    with pytest.raises(InvalidInput, match="there is no format 'mps'") as raised:
        read_set_system(ORLIB, "mps")

    assert raised.value.pointer == "/graph/format"
