"""Both directions of an incidence say the same, and so does a part of it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.solvers.graphs.set_systems import incidence_of, rows_of, set_systems


@given(set_systems())
def test_sets_of_elements_mirror_elements_of_sets(system):
    incidence = incidence_of(system)

    pairs = {(e, j) for j, row in enumerate(rows_of(incidence)) for e in row}
    columns = np.split(incidence.sets, incidence.element_ptr[1:-1]) if incidence.num_elements else []

    assert pairs == {(e, j) for e, column in enumerate(columns) for j in column.tolist()}
    assert all((np.diff(column) > 0).all() for column in columns)


@given(set_systems(), st.data())
def test_a_part_keeps_what_its_sets_and_elements_share(system, data):
    incidence = incidence_of(system)
    sets = sorted(data.draw(st.sets(st.integers(0, incidence.num_sets - 1))))
    elements = sorted(data.draw(st.sets(st.integers(0, max(0, incidence.num_elements - 1))))) if incidence.num_elements else []

    part = incidence.restricted_to(np.array(sets, dtype=np.int64), np.array(elements, dtype=np.int64))

    rows = rows_of(incidence)
    assert rows_of(part) == [{elements.index(e) for e in rows[j] if e in elements} for j in sets]
    assert part.costs.tolist() == incidence.costs[sets].tolist()
    assert part.num_elements == len(elements)
