"""The split of the query budget."""

import pytest

from auctions.mechanism.budget import MECHANISMS, QuestionCounts, question_counts
from solvers.operation import InvalidInput


@pytest.mark.parametrize(
    ("budget", "split"),
    [
        (0, (0, 0, 0, 0)),
        (1, (1, 0, 0, 0)),
        (2, (1, 0, 1, 0)),
        (3, (1, 1, 1, 0)),
        (10, (2, 2, 1, 5)),
        (99, (20, 20, 1, 58)),
        (100, (20, 20, 1, 59)),
    ],
)
def test_mlhca_splits_as_the_rule_says(budget: int, split: tuple[int, int, int, int]) -> None:
    counts = question_counts("mlhca", budget)
    assert (counts.n_cca_rounds, counts.n_ml_demand_queries, int(counts.bridge_bid), counts.n_value_queries) == split


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("domain", ["gsvm", "mrvm", None])
def test_every_budget_is_spent_whole(mechanism, domain) -> None:
    for budget in range(300):
        assert question_counts(mechanism, budget, domain=domain).total == budget


def test_other_mechanisms_split_as_the_rule_says() -> None:
    assert question_counts("cca", 7) == QuestionCounts(n_cca_rounds=7)
    assert question_counts("ml_cca", domain="mrvm").n_cca_rounds == 50
    assert question_counts("ml_cca", domain="lsvm").n_cca_rounds == 20
    assert question_counts("boca") == QuestionCounts(n_initial_value_queries=40, n_value_queries=60)


def test_explicit_counts_override_the_rule() -> None:
    counts = question_counts("mlhca", explicit={"n_value_queries": 0, "bridge_bid": False})
    assert counts.total == 40


@pytest.mark.parametrize(
    ("arguments", "pointer"),
    [
        ({"mechanism": "mlhca", "query_budget": -1}, "/query_budget"),
        ({"mechanism": "mlhca", "query_budget": 100, "explicit": {"n_cca_rounds": 50}}, "/query_budget"),
        ({"mechanism": "cca", "explicit": {"n_value_queries": 5}}, "/parameters/n_value_queries"),
    ],
)
def test_counts_that_make_no_sense_are_refused(arguments, pointer) -> None:
    with pytest.raises(InvalidInput) as fault:
        question_counts(**arguments)
    assert fault.value.pointer == pointer


def test_explicit_counts_may_state_their_own_sum() -> None:
    explicit = {"n_cca_rounds": 5, "n_ml_demand_queries": 4, "bridge_bid": True, "n_value_queries": 3}
    assert question_counts("mlhca", 13, explicit=explicit).total == 13
