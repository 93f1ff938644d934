"""The comparison with peers: what is run, what is not run again, what counts as an answer."""

import sys

import pytest

from benchmarks.instances import load
from benchmarks.ledger import Ledger
from benchmarks.peers import measuring
from benchmarks.peers.catalogue import SOLVERS, compared
from benchmarks.peers.measuring import KEY, Run, answer, measure, valued
from benchmarks.peers.plan import planned
from benchmarks.peers.solver import Answer, Solver

COVER = load("set-cover", "stn27")


def found(members, **fields):
    return {"members": members, "claimed": None, "bound": None, "seconds": 1.0, "cpu_seconds": 1.0} | fields


def test_peers_run_at_the_longest_limit_alone_and_once_if_chance_plays_no_part():
    runs = planned("set-cover", ["stn27"], ["foresolve", "cp-sat"], [0, 1], [1.0, 10.0])

    assert [(run.solver, run.seed, run.limit) for run in runs] == [
        ("foresolve", 0, 1.0),
        ("foresolve", 0, 10.0),
        ("foresolve", 1, 1.0),
        ("foresolve", 1, 10.0),
        ("cp-sat", 0, 10.0),
    ]


def test_solvers_of_independent_sets_stand_for_covers_without_a_run_of_their_own():
    covers = planned("vertex-cover", ["C250.9"], ["cp-sat", "cp-sat-cliques"], [0], [10.0])
    sets = planned("independent-set", ["C250.9"], ["cp-sat", "cp-sat-cliques"], [0], [10.0])

    assert [(run.problem, run.solver) for run in covers] == [("vertex-cover", "cp-sat"), ("independent-set", "cp-sat-cliques")]
    assert set(covers) & set(sets) == {covers[1]}


@pytest.mark.parametrize("problem", SOLVERS)
def test_a_stand_in_is_not_planned_for_itself(problem):
    assert "networkx-random" not in [name for _, name in compared(problem)]


def test_a_run_whose_line_is_there_is_not_run_again(tmp_path):
    run = Run("set-cover", "stn27", "a solver that does not exist", "1", 0, 1.0)
    ledger = Ledger(tmp_path / "runs.jsonl", KEY)
    ledger.append(**run.key, value=5)

    assert measure(run, COVER, Ledger(tmp_path / "runs.jsonl", KEY))["value"] == 5


def test_a_run_in_a_process_of_its_own_is_valued_and_kept(tmp_path):
    run = Run("set-cover", "stn27", "ortools-greedy", "1", 0, 5.0)
    line = measure(run, COVER, Ledger(tmp_path / "runs.jsonl", KEY))

    assert line["value"] >= 18
    assert Ledger(tmp_path / "runs.jsonl", KEY).find(**run.key) == line


def test_who_looks_at_no_clock_is_stopped_at_the_limit():
    line = answer(Run("independent-set", "C250.9", "networkx", "1", 0, 0.05), load("independent-set", "C250.9"))

    assert line["value"] is None
    assert "stopped after 0.05 s" in line["fault"]


def test_an_infeasible_answer_is_told_and_has_no_value():
    line = valued(found("1" * 9 + "0" * 18), COVER, is_exact=False)

    assert line["value"] is None
    assert "elements are in no chosen set" in line["fault"]


def test_a_claim_better_than_the_truth_is_told_and_the_truth_kept():
    line = valued(found("1" * 27, claimed=20.0), COVER, is_exact=False)

    assert line["value"] == 27
    assert line["fault"] == "claims 20 for what is worth 27"


def test_ours_may_not_even_claim_less_than_it_has():
    honest = found("1" * 27, claimed=28.0)

    assert "fault" not in valued(honest, COVER, is_exact=False)
    assert "fault" in valued(honest, COVER, is_exact=True)


def test_a_bound_that_a_known_solution_beats_is_told_and_dropped():
    line = valued(found("1" * 27, bound=18.5), COVER, is_exact=False)

    assert line["bound"] is None
    assert line["fault"] == "the bound 18.5 does not hold: 18 is known"


@pytest.fixture
def a_solver_that_fails_and_its_stand_in(monkeypatch):
    names = {"broken": "steady", "steady": None}
    solvers = {name: Solver(lambda _: lambda seed, limit: Answer(None), "numpy", fallback=other) for name, other in names.items()}
    monkeypatch.setitem(SOLVERS, "set-cover", solvers)
    lines = {"broken": measuring.NOTHING | {"fault": "failed"}, "steady": measuring.NOTHING | {"value": 20}}
    monkeypatch.setattr(measuring, "answer", lambda run, instance: lines[run.solver])


@pytest.mark.usefixtures("a_solver_that_fails_and_its_stand_in")
def test_a_stand_in_is_named_in_the_line(tmp_path):
    line = measure(Run("set-cover", "stn27", "broken", "1", 0, 1.0), COVER, Ledger(tmp_path / "runs.jsonl", KEY))

    assert (line["solver"], line["method"], line["value"]) == ("broken", "steady", 20)


def test_ours_may_not_fail(tmp_path, monkeypatch):
    monkeypatch.setattr(measuring, "answer", lambda run, instance: measuring.NOTHING | {"fault": "no solution"})
    ledger = Ledger(tmp_path / "runs.jsonl", KEY)

    with pytest.raises(SystemExit, match="no solution"):
        measure(Run("set-cover", "stn27", "foresolve", "1", 0, 1.0), COVER, ledger)


def test_a_process_that_does_not_start_ends_the_benchmark(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")

    with pytest.raises(SystemExit, match="did not start"):
        answer(Run("set-cover", "stn27", "greedy", "1", 0, 1.0), COVER)
