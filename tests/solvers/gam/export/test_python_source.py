import ast
import subprocess
import sys

import numpy as np
import pytest

from solvers.gam import AdditiveModel, ShapeFunction
from solvers.gam.export.output_names import output_names
from solvers.gam.export.python_source import to_python
from tests.solvers.gam.export.scored import LINKS, assert_equal_scores, scored_by_the_model
from tests.solvers.gam.random_models import a_model, rows_for
from tests.solvers.gam.scoring_vectors import COLUMNS, CONTRIBUTIONS, DECISIONS, DOCUMENT, PROBABILITIES


def loaded(model: AdditiveModel) -> dict:
    module: dict = {}
    exec(compile(to_python(model), "model.py", "exec"), module)
    return module


def rows_of(columns: dict) -> list[dict]:
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def scored_by_the_module(model: AdditiveModel, columns: dict) -> dict:
    module, names, rows = loaded(model), output_names(model), rows_of(columns)
    scored = {names.prediction: [module["predict"](row) for row in rows]}
    if names.probabilities:
        scored |= zip(names.probabilities, np.transpose([module["predict_proba"](row) for row in rows]), strict=True)
    decisions = np.array([module["decision"](row) for row in rows]).reshape(len(rows), -1)
    scored |= zip(names.decisions, decisions.T, strict=True)
    parts = [module["contributions"](row) for row in rows]
    for feature, per_output in zip(model.feature_names, names.contributions, strict=True):
        values = np.array([part[feature] for part in parts]).reshape(len(rows), -1)
        scored |= zip(per_output, values.T, strict=True)
    return scored


def test_the_vectors_are_scored_alike():
    module = loaded(AdditiveModel.from_json(DOCUMENT))
    rows = rows_of(COLUMNS)
    np.testing.assert_array_equal([list(module["contributions"](row).values()) for row in rows], CONTRIBUTIONS)
    np.testing.assert_allclose([module["decision"](row) for row in rows], DECISIONS, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose([module["predict_proba"](row)[1] for row in rows], PROBABILITIES, rtol=1e-12)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("seed", range(8))
def test_the_module_scores_as_the_model_does(link, seed):
    model = a_model(seed, link)
    columns = rows_for(model, seed)
    assert_equal_scores(scored_by_the_module(model, columns), scored_by_the_model(model, columns))


def test_decisions_of_any_size_give_finite_answers():
    shape = ShapeFunction("x", "numeric", [-1e5, 1e5], [0.0])
    for link, classes in (("log", None), ("logit", ("a", "b")), ("softmax", ("a", "b", "c"))):
        shapes = [[shape, shape.shifted(1), shape.shifted(2)] if link == "softmax" else [shape]]
        model = AdditiveModel("classification" if classes else "regression", link, [0.5] * len(shapes[0]), shapes, classes)
        columns = {"x": [-1.0, 1.0]}
        assert_equal_scores(scored_by_the_module(model, columns), scored_by_the_model(model, columns))


@pytest.mark.parametrize("link", LINKS)
def test_the_module_imports_nothing_but_math(link):
    tree = ast.parse(to_python(a_model(3, link)))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert [alias.name for node in imports for alias in node.names] == ["math"]


def test_the_module_runs_alone():
    source = to_python(a_model(1, "logit"))
    done = subprocess.run([sys.executable, "-I", "-S", "-c", source], capture_output=True, check=True)
    assert done.stdout == b""


def test_an_absent_offset_counts_as_nothing():
    for link in ("log", "logit"):
        model = a_model(1, link)
        columns = rows_for(model, 1)
        neutral = [1.0 if link == "log" else 0.0] * 60
        expected = scored_by_the_model(model, columns | {model.offset.column: neutral})
        del columns[model.offset.column]
        assert_equal_scores(scored_by_the_module(model, columns), expected)


def test_numpy_names_and_labels_are_written_as_plain_ones():
    plan = ShapeFunction(np.str_("plan"), "categorical", [1.0], levels=np.array(["a"]))
    model = AdditiveModel("classification", "logit", [0.0], [[plan]], np.array(["no", "yes"]))
    assert "np." not in to_python(model)
    assert loaded(model)["predict"]({"plan": "a"}) == "yes"


def test_the_source_is_plain_ascii():
    assert to_python(a_model(2, "softmax")).isascii()
