import json

import numpy as np
import onnx
import onnxruntime
import pytest

from solvers.gam import AdditiveModel, ShapeFunction
from solvers.gam.export.onnx_model import to_onnx
from solvers.gam.export.output_names import output_names
from solvers.operation import InvalidInput
from tests.solvers.gam.export.scored import LINKS, assert_equal_scores, scored_by_the_model
from tests.solvers.gam.random_models import a_model, rows_for
from tests.solvers.gam.scoring_vectors import COLUMNS, CONTRIBUTIONS, DECISIONS, DOCUMENT, PROBABILITIES


def run(document: bytes, columns: dict) -> dict:
    """Outputs of a file; what the columns hold is read from the file's own metadata."""
    session = onnxruntime.InferenceSession(document, providers=["CPUExecutionProvider"])
    inputs = json.loads(session.get_modelmeta().custom_metadata_map["inputs"])
    table = [encoded(columns[column["name"]], column.get("levels")) for column in inputs]
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": np.array(table).T}), strict=True))


def encoded(column: list, levels: list[str] | None) -> list[float]:
    if levels is None:
        return [np.nan if value is None else float(value) for value in column]
    codes = {level: code for code, level in enumerate(levels, start=1)}
    return [0.0 if value is None else float(codes.get(value, -1)) for value in column]


def by_output_name(model: AdditiveModel, outputs: dict) -> dict:
    names, n_rows = output_names(model), len(outputs["decision"])
    scored = {names.prediction: outputs["prediction" if model.classes is None else "label"].tolist()}
    if names.probabilities:
        scored |= zip(names.probabilities, outputs["probabilities"].T, strict=True)
    scored |= zip(names.decisions, outputs["decision"].reshape(n_rows, -1).T, strict=True)
    flat = [name for per_output in names.contributions for name in per_output]
    return scored | dict(zip(flat, outputs["contributions"].reshape(n_rows, -1).T, strict=True))


def test_the_vectors_are_scored_alike():
    outputs = run(to_onnx(AdditiveModel.from_json(DOCUMENT)), COLUMNS)
    np.testing.assert_array_equal(outputs["contributions"], CONTRIBUTIONS)
    np.testing.assert_allclose(outputs["decision"], DECISIONS, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(outputs["probabilities"][:, 1], PROBABILITIES, rtol=1e-12)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("seed", range(10))
def test_the_graph_scores_as_the_model_does(link, seed):
    model = a_model(seed, link)
    columns = rows_for(model, seed)
    outputs = run(to_onnx(model), columns)
    flat = model.contributions(columns).reshape(outputs["contributions"].shape)
    np.testing.assert_array_equal(outputs["contributions"], flat)
    assert_equal_scores(by_output_name(model, outputs), scored_by_the_model(model, columns))


@pytest.mark.parametrize("link", LINKS)
def test_the_file_is_valid_onnx(link):
    onnx.checker.check_model(to_onnx(a_model(5, link)), full_check=True)


def test_equal_models_have_equal_files():
    assert to_onnx(a_model(3, "softmax")) == to_onnx(AdditiveModel.from_json(a_model(3, "softmax").to_json()))


def test_decisions_of_any_size_give_finite_answers():
    shape = ShapeFunction("x", "numeric", [-1e5, 1e5], [0.0])
    for link, classes in (("log", None), ("logit", ("a", "b")), ("softmax", ("a", "b", "c"))):
        shapes = [[shape, shape.shifted(1), shape.shifted(2)] if link == "softmax" else [shape]]
        model = AdditiveModel("classification" if classes else "regression", link, [0.5] * len(shapes[0]), shapes, classes)
        columns = {"x": [-1.0, 1.0]}
        assert_equal_scores(by_output_name(model, run(to_onnx(model), columns)), scored_by_the_model(model, columns))


def test_integer_classes_stay_integers():
    shape = ShapeFunction("x", "numeric", [-1, 1], [0.0])
    model = AdditiveModel("classification", "logit", [0.0], [[shape]], (3, -4))
    assert run(to_onnx(model), {"x": [-1.0, 1.0]})["label"].tolist() == [3, -4]


def test_a_code_that_stands_for_nothing_is_unseen():
    shape = ShapeFunction("x", "categorical", [1.0, 2.0], levels=("a", "b"), missing=3.0, unseen=9.0)
    session = onnxruntime.InferenceSession(to_onnx(AdditiveModel("regression", "identity", [0.0], [[shape]])))
    codes = np.array([[1.0], [2.0], [0.0], [np.nan], [-1.0], [3.0], [1e9], [-np.inf], [np.inf]])
    assert session.run(["prediction"], {"X": codes})[0].tolist() == [1, 2, 3, 3, 9, 9, 9, 9, 9]


def test_a_missing_exposure_counts_as_one():
    model = a_model(1, "log")
    columns = rows_for(model, 1)
    given, absent = ([value] * 60 for value in (1.0, None))
    expected = run(to_onnx(model), columns | {model.offset.column: given})["prediction"]
    np.testing.assert_array_equal(run(to_onnx(model), columns | {model.offset.column: absent})["prediction"], expected)


def test_rows_may_be_many_one_or_none():
    model = a_model(4, "logit")
    session = onnxruntime.InferenceSession(to_onnx(model))
    for n_rows in (0, 1, 1000):
        assert session.run(["decision"], {"X": np.zeros((n_rows, len(model.shapes)))})[0].shape == (n_rows,)


def test_a_model_without_features_is_refused():
    with pytest.raises(InvalidInput, match="without features"):
        to_onnx(AdditiveModel("regression", "identity", [0.0], []))
