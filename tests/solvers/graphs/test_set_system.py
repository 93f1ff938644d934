"""Set systems are read with all their repairs, and what is wrong with one is named with its place."""

import numpy as np
import pytest
import scipy.sparse

from solvers.graphs.set_system import Infeasible, InvalidSetSystem, SetSystem
from solvers.operation import InvalidInput


def listed(system):
    return [row.tolist() for row in np.split(system.elements, system.set_ptr[1:-1])]


def test_an_element_that_a_set_lists_twice_is_in_it_once():
    system = SetSystem([[2, 0, 2], [1]])

    assert listed(system) == [[0, 2], [1]]
    assert system.listed_sizes.tolist() == [3, 1]
    assert system.warnings == [
        {
            "code": "repeated-elements",
            "message": "1 element is listed again in the same set and counted once; first: 2 in set 0",
            "pointer": "/sets/0/2",
        }
    ]


def test_equal_sets_are_kept():
    system = SetSystem([[0, 1], [0, 1]])

    assert listed(system) == [[0, 1], [0, 1]]
    assert system.warnings == []


def test_empty_and_free_sets_are_reported_with_the_first_place():
    system = SetSystem([[0], [], [1], []], costs=[1, 1, 0, 0])

    assert [(entry["code"], entry["pointer"]) for entry in system.warnings] == [
        ("empty-sets", "/sets/1"),
        ("free-sets", "/sets/2"),
    ]


def test_names_are_numbered_in_order_of_first_appearance():
    system = SetSystem([["b", "a"], ["c", "b"]])

    assert system.labels == ["b", "a", "c"]
    assert listed(system) == [[0, 1], [0, 2]]


def test_labels_name_elements_that_no_set_lists():
    with pytest.raises(Infeasible) as raised:
        SetSystem([["a"], ["b"]], labels=["b", "a", "lost"]).require_coverable()

    assert raised.value.problem()["elements"] == ["lost"]
    assert raised.value.status == 422


def test_ids_from_1_are_positions_from_0():
    system = SetSystem([[1, 2], [2, 3]], index_base=1)

    assert listed(system) == [[0, 1], [1, 2]]
    assert system.set_ids([0, 1]) == [1, 2]


def test_an_infeasible_system_names_at_most_ten_elements():
    with pytest.raises(Infeasible, match=r"^29 elements are in no set: 0, 1, 2, 3, 4, 6, 7, 8, 9, 10, \.\.$") as raised:
        SetSystem([[5]], num_elements=30).require_coverable()

    assert raised.value.problem()["type"] == "infeasible"
    assert len(raised.value.problem()["elements"]) == 10


def test_elements_but_no_sets_are_infeasible():
    with pytest.raises(Infeasible, match="2 elements are in no set: 0, 1"):
        SetSystem([], num_elements=2).require_coverable()


def test_nothing_to_cover_is_always_covered():
    SetSystem([]).require_coverable()
    SetSystem([[], []]).require_coverable()


def test_a_matrix_has_a_row_per_element_and_a_column_per_set():
    matrix = scipy.sparse.coo_array(([1, 1, 2, 0], ([0, 1, 1, 2], [0, 0, 1, 1])), shape=(3, 2))

    system = SetSystem.from_objects(matrix)

    assert (system.num_elements, listed(system)) == (3, [[0, 1], [1]])


def test_sets_may_be_sets_arrays_or_ranges():
    assert listed(SetSystem([{2, 0}, np.array([1, 2]), range(2)])) == [[0, 2], [1, 2], [0, 1]]


def test_costs_are_integers_where_all_are_whole():
    assert SetSystem([[0], [0]], costs=[1.0, 2.0]).costs.dtype == np.int64
    assert SetSystem([[0], [0]], costs=[1.5, 2.0]).costs.dtype == np.float64


@pytest.mark.parametrize(
    ("arguments", "pointer", "complaint"),
    [
        ({"sets": [[0], [1, "x", 2.5]]}, "/sets/1/2", "2.5 is not the id of an element"),
        ({"sets": [[0, 1.5]]}, "/sets/0/1", "1.5 is not the id of an element"),
        ({"sets": [[0, True]]}, "/sets/0/1", "True is not the id of an element"),
        ({"sets": [[0], [3]], "num_elements": 3}, "/sets/1/0", "there is no element 3; ids go from 0 to 2"),
        ({"sets": [[1, 0]], "index_base": 1}, "/sets/0/1", "there is no element 0; ids go from 1"),
        ({"sets": [[0]], "index_base": 2}, "/index_base", "ids count from 0 or 1, not from 2"),
        ({"sets": [["a"]], "labels": ["b"]}, "/sets/0/0", "no label is 'a'"),
        ({"sets": [[0]], "labels": ["b", "b"]}, "/labels/1", "'b' is already the name of element 0"),
        ({"sets": [[0]], "costs": [-1]}, "/costs/0", "set 0 costs -1; costs are not negative"),
        ({"sets": [[0], [0]], "costs": [1, float("nan")]}, "/costs/1", "nan is not a finite number"),
        ({"sets": [[0]], "costs": [float("inf")]}, "/costs/0", "inf is not a finite number"),
        ({"sets": [[0]], "costs": [1, 2]}, "/costs", "2 costs for 1 sets"),
        ({"sets": [[0], [0]], "costs": [2**53, 1]}, "/costs", "the costs are integers that sum to more than 2^53"),
        ({"sets": [[0]], "num_elements": -1}, "/num_elements", "-1 is not a number of elements"),
        ({"sets": [[0], 5]}, "/sets/1", "5 is not a list of elements"),
        ({"sets": [[0], "ab"]}, "/sets/1", "'ab' is not a list of elements"),
        ({"sets": "ab"}, "/sets", "'ab' is no list of sets"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(arguments, pointer, complaint):
    with pytest.raises(InvalidInput) as raised:
        SetSystem(**arguments)

    assert raised.value.pointer == pointer
    assert complaint in raised.value.detail


def test_costs_that_no_float_can_add_are_refused():
    with pytest.raises(InvalidSetSystem, match="sum to more than the largest float"):
        SetSystem([[0], [0], [0]], costs=[0.5, 1.5e308, 1.5e308])
