"""What the tables of the comparison say."""

import pytest

from benchmarks.peers.measuring import Run
from benchmarks.peers.tables import report


def line(run, value, bound=None, **fields):
    return run.key | {"value": value, "bound": bound, "seconds": run.limit, "cpu_seconds": run.limit} | fields


def test_ratios_compare_the_same_seed_and_name_the_worst():
    runs = [Run("max-cut", "G1", solver, "1", seed, 10.0) for solver in ("foresolve", "dwave-tabu") for seed in (0, 1)]
    values = [11000, 11600, 10000, 11600]

    text = report("max-cut", {run: line(run, value, 12083) for run, value in zip(runs, values, strict=True)})

    assert "| dwave-tabu | 1.0000 | 1.0500 |                 0 of 2 |         0 of 2 |" in text
    assert "| G1       |      11624 | 11000 to 11600 | 12083 |       0.9104 |" in text


def test_a_ratio_of_costs_is_the_peers_over_ours():
    runs = [Run("set-cover", "stn27", solver, "1", 0, 10.0) for solver in ("foresolve", "cp-sat")]

    text = report("set-cover", {run: line(run, value, 18) for run, value in zip(runs, [20, 18], strict=True)})

    assert "The peer's over ours at 10 s" in text
    assert "| cp-sat    | 0.9000 | 0.9000 |                 0 of 1 |         1 of 1 |" in text


def test_the_bound_and_ratio_shown_are_the_weakest_of_all_seeds():
    runs = [Run("set-cover", "stn27", "foresolve", "1", seed, 10.0) for seed in (0, 1)]

    text = report("set-cover", {run: line(run, 18, bound) for run, bound in zip(runs, [18, 9], strict=True)})

    assert "| stn27    |         18 |   18 |     9 |       0.5000 |" in text


def test_a_peer_without_an_answer_is_shown_as_such():
    ours, peer = (Run("max-cut", "G1", solver, "1", 0, 10.0) for solver in ("foresolve", "cp-sat"))

    text = report("max-cut", {ours: line(ours, 11624, 12083), peer: line(peer, None, fault="no solution")})

    assert "| cp-sat    |     - |    - |                 1 of 1 |         0 of 1 |" in text
    assert "cp-sat on G1: no solution." in text


def test_an_independent_set_is_shown_as_the_cover_that_it_leaves_over():
    ours = Run("vertex-cover", "C250.9", "foresolve", "1", 0, 10.0)
    peer = Run("independent-set", "C250.9", "redumis", "1", 0, 10.0)

    text = report("vertex-cover", {ours: line(ours, 206, 180), peer: line(peer, 43, 44)})

    assert "| C250.9   |        206 |       206 |     207 |" in text
    assert "| redumis   | 1.0049 | 1.0049 |" in text


@pytest.mark.parametrize(("seconds", "is_told"), [(10.4, False), (13.0, True)])
def test_who_is_late_is_told(seconds, is_told):
    run = Run("max-cut", "G1", "dwave-tabu", "1", 0, 10.0)

    text = report("max-cut", {run: line(run, 11000, seconds=seconds, cpu_seconds=seconds)})

    assert ("dwave-tabu on G1 (13.0 s of 10)" in text) == is_told


def test_a_stand_in_is_told():
    run = Run("max-cut", "G1", "networkx", "1", 0, 10.0)

    text = report("max-cut", {run: line(run, 9818, method="networkx-random")})

    assert "networkx had no answer on G1; shown is the best of networkx-random in as much time." in text
