"""The bound that every graph has."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.bound import trivial_bound


@given(st.lists(st.floats(-1e300, 1e300), max_size=20), st.data())
def test_no_choice_of_weights_sums_to_more_than_the_trivial_bound(weights, data):
    from math import fsum

    chosen = data.draw(st.lists(st.booleans(), min_size=len(weights), max_size=len(weights)))

    assert fsum(w for w, taken in zip(weights, chosen, strict=True) if taken) <= trivial_bound(np.array(weights)).value
