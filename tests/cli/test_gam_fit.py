"""`foresolve gam fit`: what it prints and what it writes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import cli
from solvers.gam import AdditiveModel
from tests.solvers.gam.operations.running import FEATURES, csv_text, people

ROWS = people(200)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(csv_text(ROWS))
    return path


def run(*arguments: object):
    return CliRunner().invoke(cli, ["gam", "fit", *map(str, arguments)])


OTHERS = [option for name in ("left", "visits", "grade") for option in ("--column", f"{name}=ignore")]


def test_accuracy_size_and_shapes_are_printed_and_files_written(table: Path) -> None:
    ended = run(table, "--target", "spent", *OTHERS, "--n-stumps", 30, "--alpha", 3, "--holdout", 0.2)
    assert ended.exit_code == 0, ended.output
    assert re.search(r"Mean squared error, held back +0\.\d+ \(constant \d\.\d+, linear 0\.\d+\)", ended.stdout)
    assert re.search(r"\d+ steps of 3 features", ended.stdout)
    assert re.search(r"age +\d+\.\d % +[▁▂▃▄▅▆▇█]{24} +-", ended.stdout)
    model = AdditiveModel.from_json((table.parent / "people.model.json").read_text())
    assert model.feature_names == FEATURES
    page = (table.parent / "people.html").read_text()
    assert page.count("<svg") == 1 + len(FEATURES)
    assert "spent of people.csv" in page


def test_parameters_are_chosen_by_cross_validation_by_default(table: Path) -> None:
    ended = run(table, "--target", "spent", *OTHERS, "--rule", "parsimony", "--option", "min_samples_leaf=10")
    assert ended.exit_code == 0, ended.output
    assert re.search(r"Mean squared error, cross-validated +0\.\d+ ± 0\.\d+", ended.stdout)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), r"at most \d+\.\d\d %"),
        (("--option", "loss=huber"), "unknown: there is no bound for this loss"),
        (("--option", "smooth_share=0.5"), "unknown: an average of fits minimises no objective"),
        (("--option", "certificate=false"), "unknown: it was not asked for"),
        (("--alpha", 0), r"unknown: there is no bound without a ridge \(alpha\)"),
    ],
    ids=["single", "loss", "average", "not asked", "alpha"],
)
def test_the_gap_is_told_or_why_there_is_none(table: Path, options: tuple[object, ...], said: str) -> None:
    ended = run(table, "--target", "spent", *OTHERS, "--n-stumps", 10, *options)
    assert ended.exit_code == 0, ended.output
    assert re.search(f"Gap to the best forest +{said}", ended.stdout)


def test_several_classes_have_a_line_each(table: Path, tmp_path: Path) -> None:
    options = ["--column", "left=ignore", "--column", "visits=ignore", "--column", "spent=ignore"]
    paths = ["--model", tmp_path / "m.json", "--report", tmp_path / "r.html"]
    ended = run(table, "--target", "grade", *options, "--n-stumps", 20, *paths)
    assert ended.exit_code == 0, ended.output
    assert {"plan (low)", "plan (middle)", "plan (high)"} <= set(re.findall(r"plan \(\w+\)", ended.stdout))
    assert (tmp_path / "m.json").exists()
    assert (tmp_path / "r.html").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "none"], "there is no column 'none'"),
        (["--target", "spent", "--column", "age"], "--column takes name=type"),
        (["--target", "spent", "--option", "loss=cubic"], "loss"),
        (["--target", "spent", "--n-stumps", "-1"], "n_stumps"),
        (["--target", "age", "--column", "age=ignore"], "column 'age' is needed"),
    ],
)
def test_a_fault_is_a_sentence_and_status_2(table: Path, arguments: list[str], message: str) -> None:
    ended = run(table, *arguments)
    assert ended.exit_code == 2
    assert message in ended.stderr
    assert "Traceback" not in ended.output


def test_a_file_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    ended = run(tmp_path / "none.csv", "--target", "y")
    assert (ended.exit_code, "there is no file" in ended.stderr) == (2, True)


def test_a_row_at_fault_is_told(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("x,y\n1,2\n1,2,3\n")
    ended = run(path, "--target", "y")
    assert ended.exit_code == 2
    assert "row 1 (line 3" in ended.stderr
