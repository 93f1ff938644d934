"""The plots of the study of predictions."""

import pytest

from tests.benchmarks.study_lines import lines_that_improve

prediction_plots = pytest.importorskip("benchmarks.prediction_plots", exc_type=ModuleNotFoundError)


def test_plots_are_the_same_bytes_for_the_same_lines(tmp_path):
    lines = lines_that_improve("set-cover")

    (first,), (second,) = (prediction_plots.draw(["set-cover"], lines, tmp_path / name) for name in ("one", "two"))

    assert first.name == "predictions_set_cover.svg"
    assert first.read_bytes() == second.read_bytes()
    assert b"iterations to 100" in first.read_bytes()
