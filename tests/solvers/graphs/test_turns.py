"""Parts of a search that take turns."""

import pytest

from solvers.graphs.run_clock import RunClock
from solvers.graphs.turns import Allowance, Turns
from solvers.operation import Context


def clock(counts_iterations=True):
    return RunClock(Context(60), time_limit=60, size=0, counts_iterations=counts_iterations)


def working(log, name, iterations=100):
    """A part that takes one iteration a piece, and its allowance."""
    allowance = Allowance(iterations=iterations)

    def work():
        while True:
            log.append(name)
            allowance.charge(1)
            yield

    return work(), allowance


def test_parts_alternate_in_slices_that_double():
    log: list[str] = []
    parts = [working(log, "a", 64), working(log, "b", 64)]

    rounds = Turns(parts, clock(), lambda: False).rounds()
    next(rounds), next(rounds), next(rounds)

    assert "".join(log) == "a" + "b" + "a" + "b" + "aa" + "bb"


def test_every_part_gets_its_whole_allowance():
    log: list[str] = []
    parts = [working(log, "a"), working(log, "b", 50)]

    list(Turns(parts, clock(), lambda: False).rounds())

    assert (log.count("a"), log.count("b")) == (100, 50)


def test_a_reason_to_stop_ends_the_slice():
    log: list[str] = []
    parts = [working(log, "a"), working(log, "b")]

    next(Turns(parts, clock(), lambda: len(log) >= 1).rounds())

    assert log == ["a"]


def test_seconds_are_given_in_equal_parts():
    allowances = [Allowance(seconds=1.0), Allowance(seconds=2.0)]

    Turns([(iter(()), allowance) for allowance in allowances], clock(), lambda: False).give(1.0)

    assert [allowance.seconds for allowance in allowances] == [1.5, 2.5]


@pytest.mark.parametrize("counts_iterations", [True, False])
def test_slices_by_the_clock_are_not_repeatable(counts_iterations):
    ticking = clock(counts_iterations)

    next(Turns([working([], "a")], ticking, lambda: False).rounds())

    assert ticking.decided == (not counts_iterations)
