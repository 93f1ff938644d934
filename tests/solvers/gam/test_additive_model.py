import json
import math

import numpy as np
import pytest
from scipy.special import expit

from solvers.gam import AdditiveModel, Offset, ShapeFunction
from solvers.operation import InvalidInput
from tests.solvers.gam.random_models import a_model, offsets_of, rows_for
from tests.solvers.gam.scoring_vectors import COLUMNS, CONTRIBUTIONS, DECISIONS, DOCUMENT, PROBABILITIES

LINKS = ("identity", "log", "logit", "softmax")
STEP = ShapeFunction("x", "numeric", [-1, 1], [0])


def test_the_vectors_are_scored_exactly():
    model = AdditiveModel.from_json(DOCUMENT)
    np.testing.assert_array_equal(model.contributions(COLUMNS), CONTRIBUTIONS)
    np.testing.assert_allclose(model.decision(COLUMNS), DECISIONS, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(model.mean(model.decision(COLUMNS)), PROBABILITIES, rtol=1e-12)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("seed", range(4))
def test_contributions_and_intercept_add_up_to_the_decision(link, seed):
    model = a_model(seed, link)
    columns = rows_for(model, seed)
    offset = offsets_of(model, columns)
    total = model.intercepts + model.contributions(columns).sum(axis=1).reshape(-1, model.n_outputs)
    total += 0 if offset is None else offset[:, None]
    np.testing.assert_allclose(model.decision(columns, offset).reshape(total.shape), total, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("seed", range(6))
def test_a_model_survives_json(link, seed):
    model = a_model(seed, link)
    columns = rows_for(model, seed)
    again = AdditiveModel.from_json(model.to_json())
    assert again.to_json() == model.to_json()
    assert (again.classes, again.offset) == (model.classes, model.offset)
    np.testing.assert_array_equal(again.decision(columns), model.decision(columns))
    for per_output, as_read in zip(model.shapes, again.shapes, strict=True):
        for shape, read in zip(per_output, as_read, strict=True):
            np.testing.assert_array_equal(shape.weights, read.weights)
            np.testing.assert_array_equal(shape.stderr, read.stderr)


@pytest.mark.parametrize("classes", [(0, 1), (False, True), ("0", "1"), (0.5, 1.5)])
def test_labels_keep_their_type(classes):
    model = AdditiveModel("classification", "logit", [0.0], [[STEP]], classes)
    again = AdditiveModel.from_json(model.to_json())
    assert list(map(type, again.classes)) == list(map(type, classes))
    assert again.predict([[-1, 1]]).tolist() == list(classes)


def test_labels_of_numpy_types_are_written_as_json():
    model = AdditiveModel("classification", "logit", [0.0], [[STEP]], np.array([3, 4]))
    assert json.loads(model.to_json())["classes"] == [3, 4]


def test_probabilities_are_softmax_and_logistic():
    columns = {"x": [-1.0, 1.0, None]}
    two = AdditiveModel("classification", "logit", [0.3], [[STEP]], ("a", "b"))
    np.testing.assert_allclose(two.probabilities(two.decision(columns))[:, 1], expit([-0.7, 1.3, 0.3]), rtol=1e-14)
    three = AdditiveModel("classification", "softmax", [0.3, 0, 1], [[STEP, STEP, STEP.shifted(1)]], ("a", "b", "c"))
    decision = three.decision(columns)
    powers = np.exp(decision)
    np.testing.assert_allclose(three.probabilities(decision), powers / powers.sum(axis=1, keepdims=True), rtol=1e-13)
    assert three.predict(columns).tolist() == ["c", "c", "c"]


@pytest.mark.parametrize("link", ["log", "logit"])
def test_means_stay_finite_however_large_the_decision(link):
    classes = ("a", "b") if link == "logit" else None
    model = AdditiveModel("classification" if classes else "regression", link, [1e6], [[STEP]], classes)
    assert np.isfinite(model.mean(np.array([-1e6, 1e6]))).all()


def test_a_single_class_has_probability_one():
    model = AdditiveModel("classification", "softmax", [0.0], [[STEP]], ("only",))
    assert model.probabilities(model.decision([[1.0, 2.0]])).tolist() == [[1.0], [1.0]]
    assert model.predict([[1.0]]).tolist() == ["only"]


def test_an_exposure_multiplies_the_mean():
    model = AdditiveModel("regression", "log", [0.2], [[STEP]], offset=Offset("years", "exposure"))
    offset = model.offset.on_link_scale([1.0, 3.0])
    rate, counts = model.predict([[1.0, 1.0]]), model.predict([[1.0, 1.0]], offset)
    np.testing.assert_allclose(counts / rate, [1, 3])


@pytest.mark.parametrize(("kind", "value"), [("exposure", 0.0), ("exposure", -1.0), ("offset", math.inf), ("offset", None)])
def test_a_bad_offset_is_named_by_column_and_row(kind, value):
    with pytest.raises(InvalidInput, match="column 'years', row 2"):
        Offset("years", kind).on_link_scale([1.0, 1.0, value])


def test_columns_may_come_by_name_in_order_or_as_one_array():
    shapes = [[STEP], [ShapeFunction("y", "numeric", [0, 10], [5])]]
    model = AdditiveModel("regression", "identity", [0.0], shapes)
    for columns in ({"y": [9, 1], "z": [0, 0], "x": [1, -1]}, [[1, -1], [9, 1]], np.array([[1, 9], [-1, 1]])):
        assert model.decision(columns).tolist() == [11, -1]


def test_a_model_without_features_is_its_intercept():
    model = AdditiveModel("regression", "identity", [2.0], [])
    assert model.decision(np.empty((3, 0))).tolist() == [2, 2, 2]
    assert model.importances().size == 0


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [({}, "'x' is absent"), ([], "0 columns for 1"), ([[1], [2]], "2 columns for 1"), ({"x": ["a"]}, "row 0")],
)
def test_columns_that_do_not_fit_are_refused(columns, complaint):
    model = AdditiveModel("regression", "identity", [2.0], [[STEP]])
    with pytest.raises(InvalidInput, match=complaint):
        model.decision(columns)


def test_columns_of_unequal_length_are_refused():
    model = AdditiveModel("regression", "identity", [0.0], [[STEP], [ShapeFunction("y", "numeric", [0, 10], [5])]])
    with pytest.raises(InvalidInput, match="column 'y' has 1 rows"):
        model.decision([[1, 2], [1]])


def test_what_training_did_not_hold_is_noted():
    plan = ShapeFunction("plan", "categorical", [1, 2], levels=("a", "b"), weights=[0, 1, 1])
    notes = AdditiveModel("regression", "identity", [0.0], [[plan]]).unfamiliar([["a", "c", None, "d"]])
    assert len(notes) == 2
    assert "2 rows" in notes[0]
    assert "1 missing" in notes[1]


def test_importances_are_shares_of_the_spread():
    shapes = [
        [ShapeFunction(name, "numeric", [-size, size], [0], weights=[0, 1, 1])] for name, size in (("x", 3), ("y", 1), ("z", 0))
    ]
    model = AdditiveModel("regression", "identity", [0.0], shapes)
    np.testing.assert_allclose(model.importances(), [0.75, 0.25, 0])


@pytest.mark.parametrize(
    ("path", "value", "pointer"),
    [
        (("format",), "pickle", "/format"),
        (("version",), 2, "/version"),
        (("link",), "probit", "/link"),
        (("link",), "log", "/link"),
        (("classes",), ["a"], "/classes"),
        (("classes",), ["a", "b", "c"], "/classes"),
        (("classes",), ["a", "a"], "/classes"),
        (("intercept",), "x", "/intercept"),
        (("intercept",), math.nan, "/intercept"),
        (("intercept",), [0.1, 0.2], "/intercept"),
        (("features", 0, "thresholds", 1), math.inf, "/features/0/thresholds/1"),
        (("features", 0, "thresholds", 1), 1.0, "/features/0"),
        (("features", 0, "scores"), [1.0], "/features/0"),
        (("features", 0, "name"), "plan", "/features"),
        (("features", 2, "levels", 1), "pro", "/features/2"),
        (("features", 2, "extra"), 1, "/features/2/extra"),
        (("offset",), {"column": "years", "kind": "exposure"}, "/offset"),
    ],
)
def test_a_malformed_document_is_refused_with_the_place(path, value, pointer):
    document = json.loads(json.dumps(DOCUMENT))
    inner = document
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    with pytest.raises(InvalidInput) as caught:
        AdditiveModel.from_json(document)
    assert caught.value.pointer is not None
    assert caught.value.pointer.startswith(pointer)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"link": 1, "link": 2}', b"\xff", "[" * 100_000])
def test_a_text_that_is_no_model_is_refused(text):
    with pytest.raises(InvalidInput):
        AdditiveModel.from_json(text)


@pytest.mark.parametrize("path", [("features", 0, "name"), ("features", 2, "levels", 0), ("classes", 0)])
def test_half_a_surrogate_pair_is_refused(path):
    document = json.loads(json.dumps(DOCUMENT))
    inner = document
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = "a\ud800"
    with pytest.raises(InvalidInput):
        AdditiveModel.from_json(json.dumps(document))


def test_shape_functions_out_of_the_order_of_the_classes_are_refused():
    document = json.loads(a_model(2, "softmax").to_json())
    document["features"][:2] = document["features"][1::-1]
    with pytest.raises(InvalidInput, match="in order it is") as caught:
        AdditiveModel.from_json(document)
    assert caught.value.pointer == "/features/0/class"
