import pytest

from auctions.domains.java_random import JavaRandom
from tests.auctions.domains.vectors import vectors

CASES = pytest.mark.parametrize("case", vectors("java_random"), ids=lambda case: f"seed {case['seed']}")


@CASES
def test_integers_longs_and_doubles_are_those_of_java(case):
    seed = int(case["seed"])
    for name, draw in (("next_int", JavaRandom.next_int), ("next_double", JavaRandom.next_double)):
        random = JavaRandom(seed)
        assert [draw(random) for _ in case[name]] == case[name]
    random = JavaRandom(seed)
    assert [str(random.next_long()) for _ in case["next_long"]] == case["next_long"]


@CASES
def test_bounded_integers_and_shuffles_are_those_of_java(case):
    random = JavaRandom(int(case["seed"]))
    assert [random.next_below(bound) for bound in case["next_int_bounds"]] == case["next_int_bounded"]
    assert JavaRandom(int(case["seed"])).shuffled(range(14)) == case["shuffle_0_to_13"]
