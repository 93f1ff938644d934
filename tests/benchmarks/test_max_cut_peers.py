"""The comparison with peers: what is run, what is not run again, and what the tables say."""

from benchmarks.gset import load
from benchmarks.ledger import Ledger
from benchmarks.max_cut_peers import KEY, Run, measure, planned, report


def lines_of(runs, values, bound=None):
    return [
        run._asdict() | {"value": value, "bound": bound, "seconds": run.limit, "cpu_seconds": run.limit}
        for run, value in zip(runs, values, strict=True)
    ]


def test_a_run_whose_line_is_there_is_not_run_again(tmp_path):
    run = Run("G1", "a solver that does not exist", "1", 0, 1.0)
    ledger = Ledger(tmp_path / "runs.jsonl", KEY)
    ledger.append(**run._asdict(), value=5)

    assert measure(run, load("G1"), ledger)["value"] == 5


def test_peers_run_at_the_longest_limit_alone():
    runs = planned(["G1"], ["foresolve", "cp-sat"], [0, 1], [1.0, 10.0])

    assert [(run.solver, run.seed, run.limit) for run in runs] == [
        ("foresolve", 0, 1.0),
        ("foresolve", 0, 10.0),
        ("foresolve", 1, 1.0),
        ("foresolve", 1, 10.0),
        ("cp-sat", 0, 10.0),
    ]


def test_ratios_compare_the_same_seed_and_name_the_worst():
    runs = [Run("G1", solver, "1", seed, 10.0) for solver in ("foresolve", "dwave-tabu") for seed in (0, 1)]
    lines = lines_of(runs, [11000, 11600, 10000, 11600], bound=12083)

    assert "| dwave-tabu | 1.0000 | 1.0500 |" in report({"G1": load("G1")}, runs, lines)


def test_a_peer_without_an_answer_is_shown_as_such():
    runs = [Run("G1", solver, "1", 0, 10.0) for solver in ("foresolve", "cp-sat")]

    assert "| cp-sat |     - |    - |                      1 |" in report(
        {"G1": load("G1")}, runs, lines_of(runs, [11624, None], 12083)
    )
