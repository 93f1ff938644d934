"""Which economies a group of value queries looks at."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from auctions.mechanism.economies import balanced_economies, random_economies


@given(n_bidders=st.integers(1, 12), n_marginal=st.integers(0, 5), seed=st.integers(0, 2**32))
def test_balanced_economies_give_everybody_real_questions(n_bidders: int, n_marginal: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    history = []
    for _ in range(4):
        economies = balanced_economies(n_bidders, n_marginal, history, rng)
        history.append(economies)
        for bidder, own in enumerate(economies):
            assert own[0] is None
            assert bidder not in own
            assert len(set(own)) == len(own) == 1 + min(n_marginal, n_bidders - 1)
        assert len({economy for own in economies for economy in own} - {None}) <= n_marginal + 1


def test_balanced_economies_leave_everybody_out_equally_often() -> None:
    rng = np.random.default_rng(0)
    history: list = []
    for _ in range(14):  # 14 groups of 4 exclusions are 8 for each of 7 bidders
        history.append(balanced_economies(7, 3, history, rng))
    left_out = [sum(any(bidder in own for own in group) for group in history) for bidder in range(7)]
    assert left_out == [8] * 7


def test_random_economies_are_the_same_for_everybody() -> None:
    economies = random_economies(6, 3, np.random.default_rng(1))
    assert all(own == economies[0] for own in economies)
    assert len(economies[0]) == 4
