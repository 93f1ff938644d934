"""Results of benchmarks are kept so that a benchmark that was stopped is taken up again."""

import pytest

from benchmarks.ledger import Ledger, disturbed, markdown

KEY = ("instance", "seed")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results" / "runs.jsonl"


def test_a_line_is_found_again_by_its_key_in_a_later_run(path):
    Ledger(path, KEY).append(instance="G1", seed=0, value=7)

    later = Ledger(path, KEY)

    assert later.find(instance="G1", seed=0)["value"] == 7
    assert later.find(instance="G1", seed=1) is None


def test_a_line_torn_by_a_kill_is_passed_over_and_spoils_no_other(path):
    Ledger(path, KEY).append(instance="G1", seed=0, value=7)
    with path.open("a") as file:
        file.write('{"instance": "G1", "se')
    Ledger(path, KEY).append(instance="G1", seed=1, value=8)

    later = Ledger(path, KEY)

    assert [later.find(instance="G1", seed=seed)["value"] for seed in (0, 1)] == [7, 8]


def test_runs_that_shared_their_core_are_reported():
    alone, crowded = {"seconds": 1.0, "cpu_seconds": 0.99}, {"seconds": 1.0, "cpu_seconds": 0.4}

    assert disturbed([alone]) is None
    assert "1 of 2 runs" in disturbed([alone, crowded])


def test_a_table_has_equally_wide_lines():
    lines = markdown(["graph", "cut"], [["G1", "11624"], ["torus", "5"]]).splitlines()

    assert lines == ["| graph |   cut |", "|-------|------:|", "| G1    | 11624 |", "| torus |     5 |"]
