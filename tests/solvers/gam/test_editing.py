import math

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from solvers.gam import AdditiveModel, ShapeFunction
from solvers.gam.editing import edit
from solvers.operation import InvalidInput
from tests.solvers.gam.random_models import a_model, rows_for

AGE = ShapeFunction("age", "numeric", [-1.0, 0.5, 2.0, 1.0], [20, 30, 50], missing=0.3, weights=[2, 5, 3, 1, 4], stderr=[1] * 5)
PLAN = ShapeFunction("plan", "categorical", [1.0, -1.0], levels=("basic", "pro"), missing=0.2, unseen=0.1, weights=[1, 2, 2])
MODEL = AdditiveModel("regression", "identity", [10.0], [[AGE], [PLAN]])
CLASSES = AdditiveModel("classification", "softmax", [0, 0, 0], [[AGE, AGE.shifted(1), AGE.shifted(2)]], ("a", "b", "c"))


def one(op: str, feature: str = "age", **fields) -> list[dict]:
    return [{"op": op, "feature": feature, "recenter": False} | fields]


def table_of(model: AdditiveModel, feature: str = "age") -> list[float]:
    return model.shape(feature).table.tolist()


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"lo": 20, "hi": 50}, [0.3, -1, 7, 7, 1, 0]),
        ({"lo": 24, "hi": 41}, [0.3, -1, 7, 7, 1, 0]),
        ({"lo": 20}, [0.3, -1, 7, 7, 7, 0]),
        ({"hi": 20}, [0.3, 7, 0.5, 2, 1, 0]),
        ({}, [0.3, 7, 7, 7, 7, 0]),
        ({"missing": True}, [7, -1, 0.5, 2, 1, 0]),
        ({"lo": 31, "hi": 33}, [0.3, -1, 0.5, 7, 1, 0]),
        ({"lo": 60, "hi": 70}, [0.3, -1, 0.5, 2, 7, 0]),
        ({"lo": 5, "hi": 9}, [0.3, 7, 0.5, 2, 1, 0]),
    ],
)
def test_setting_an_interval_changes_its_bins_only(fields, expected):
    assert table_of(edit(MODEL, one("set", value=7, **fields)).model) == expected


def test_adding_to_levels_changes_those_only():
    done = edit(MODEL, one("add", "plan", level=["pro"], value=0.5))
    assert table_of(done.model, "plan") == [0.2, 1, -0.5, 0.1]
    done = edit(MODEL, one("add", "plan", value=0.5))
    assert table_of(done.model, "plan") == [0.2, 1.5, -0.5, 0.1]


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (one("clamp", min=0.4), [0.4, 0.4, 0.5, 2, 1, 0.4]),
        (one("clamp", max=0.5, min=-0.5), [0.3, -0.5, 0.5, 0.5, 0.5, 0]),
        (one("remove"), [0, 0, 0, 0, 0, 0]),
        (one("rescale", factor=-2), [-0.6, 2, -1, -4, -2, 0]),
        (one("monotonise", direction="increasing"), [0.3, -1, 0.5, 1.2, 1.2, 0]),
        (one("smooth", window=3), [0.3, (-5 + 1.5) / 8, (-5 + 1.5 + 2) / 9, (1.5 + 2 + 4) / 8, 6 / 5, 0]),
        (one("smooth", window=1), [0.3, -1, 0.5, 2, 1, 0]),
    ],
)
def test_an_operation_gives_the_scores_worked_out_by_hand(operation, expected):
    np.testing.assert_allclose(table_of(edit(MODEL, operation).model), expected, rtol=1e-12)


def test_merged_steps_take_their_weighted_mean_and_lose_their_thresholds():
    shape = edit(MODEL, one("merge", lo=20, hi=50)).model.shape("age")
    assert shape.thresholds.tolist() == [20, 50]
    np.testing.assert_allclose(shape.scores, [-1, (3 * 0.5 + 2) / 4, 1])
    assert shape.weights.tolist() == [2, 5, 4, 4]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("increasing", [True, False])
def test_monotonising_is_isotonic_regression(seed, increasing):
    rng = np.random.default_rng(seed)
    scores, weights = rng.normal(size=30), rng.integers(0, 4, 31).astype(float)
    shape = ShapeFunction("x", "numeric", scores, np.arange(29), missing=5, weights=weights)
    model = AdditiveModel("regression", "identity", [0], [[shape]])
    after = edit(model, one("monotonise", "x", direction="increasing" if increasing else "decreasing")).model.shape("x")
    has_rows = weights[1:] > 0
    oracle = IsotonicRegression(increasing=increasing).fit(np.arange(30)[has_rows], scores[has_rows], weights[1:][has_rows])
    np.testing.assert_allclose(after.scores[has_rows], oracle.predict(np.arange(30)[has_rows]), atol=1e-9)
    assert (np.diff(after.scores) * (1 if increasing else -1) >= 0).all()
    assert after.missing == 5
    assert np.dot(after.scores, weights[1:]) == pytest.approx(np.dot(scores, weights[1:]), abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("window", [3, 7, 101])
def test_smoothing_is_a_weighted_moving_average(seed, window):
    rng = np.random.default_rng(seed)
    scores, weights = rng.normal(size=20), rng.integers(0, 3, 21).astype(float)
    shape = ShapeFunction("x", "numeric", scores, np.arange(19), weights=weights)
    after = edit(AdditiveModel("regression", "identity", [0], [[shape]]), one("smooth", "x", window=window)).model.shape("x")
    for index in range(20):
        near = slice(max(0, index - window // 2), index + window // 2 + 1)
        weight = weights[1:][near]
        expected = np.average(scores[near], weights=weight) if weight.any() else scores[index]
        assert after.scores[index] == pytest.approx(expected, abs=1e-12)


def test_centring_changes_no_prediction():
    columns = {"age": [10, 20, 25, 40, 60, None], "plan": ["basic", "pro", "x", None, "pro", "pro"]}
    for operation in (one("set", value=7, lo=20), one("remove"), one("set", "plan", level="pro", value=3)):
        kept = edit(MODEL, operation).model
        centred = edit(MODEL, [operation[0] | {"recenter": True}]).model
        np.testing.assert_allclose(centred.decision(columns), kept.decision(columns), rtol=1e-12)
        shape = centred.shape(operation[0]["feature"])
        assert np.dot(shape.weights, shape.table[:-1]) == pytest.approx(0, abs=1e-12)


def test_the_diff_says_which_bins_changed_and_by_how_much():
    rows = edit(MODEL, one("add", lo=20, hi=50, value=1, recenter=True)).diff
    assert [(row.lo, row.hi, row.before, row.after) for row in rows] == [(20, 30, 0.5, 1.5), (30, 50, 2, 3)]
    rows = edit(MODEL, one("remove", "plan")).diff
    assert [(row.level, row.missing, row.unseen, row.before, row.after) for row in rows] == [
        (None, True, False, 0.2, 0),
        ("basic", False, False, 1, 0),
        ("pro", False, False, -1, 0),
        (None, False, True, 0.1, 0),
    ]


def test_the_diff_of_merged_steps_names_the_steps_there_were():
    rows = edit(MODEL, one("merge", lo=20, hi=50)).diff
    assert [(row.lo, row.hi, row.before, row.after) for row in rows] == [(20, 30, 0.5, 0.875), (30, 50, 2, 0.875)]


@pytest.mark.parametrize("seed", range(20))
def test_the_diff_is_the_change_of_the_decision(seed):
    rng = np.random.default_rng(seed)
    model = a_model(seed, "identity")
    name = model.feature_names[0]
    columns = rows_for(model, seed)
    operations = [one("rescale", name, factor=float(rng.normal()), recenter=True), one("add", name, value=1.0, recenter=True)]
    done = edit(model, operations[seed % 2])
    shape = model.shape(name)
    changes = np.zeros(len(shape.table))
    for row in done.diff:
        if row.missing or row.unseen:
            place = 0 if row.missing else -1
        elif shape.kind == "categorical":
            place = 1 + shape.levels.index(row.level)
        else:
            place = shape.bins([math.inf if row.hi is None else row.hi])[0]
        changes[place] += row.after - row.before
    expected = model.decision(columns) + changes[shape.bins(columns[name])]
    np.testing.assert_allclose(done.model.decision(columns), expected, rtol=1e-10, atol=1e-10)


def test_operations_of_one_edit_act_in_turn():
    operations = one("set", value=7, lo=20, recenter=True) + one("clamp", max=1, recenter=True)
    at_once = edit(MODEL, operations).model
    in_turn = edit(edit(MODEL, operations[:1]).model, operations[1:]).model
    assert at_once.to_json() == in_turn.to_json()


def test_the_edited_model_is_another_one():
    before = MODEL.to_json()
    edit(MODEL, one("remove"))
    assert MODEL.to_json() == before


def test_an_edited_function_has_no_standard_errors():
    model = edit(MODEL, one("add", value=1, lo=20)).model
    assert model.shape("age").stderr is None


def test_moved_ends_and_unknown_weights_are_warned_of():
    assert edit(MODEL, one("set", value=1, lo=24, hi=50)).warnings == (
        "feature 'age': the end 24.0 moved to the nearest threshold, 20.0",
    )
    bare = AdditiveModel("regression", "identity", [0], [[ShapeFunction("x", "numeric", [1, 2], [0])]])
    (warning,) = edit(bare, one("add", "x", value=1, recenter=True)).warnings
    assert "not centred" in warning


def test_an_operation_on_a_class_leaves_the_others():
    model = edit(CLASSES, one("rescale", factor=2, **{"class": "b"})).model
    assert table_of_class(model, "a") == table_of_class(CLASSES, "a")
    assert table_of_class(model, "b") == [2 * score for score in table_of_class(CLASSES, "b")]
    every = edit(CLASSES, one("rescale", factor=2))
    assert {row.of_class for row in every.diff} == {"a", "b", "c"}


def table_of_class(model: AdditiveModel, label: str) -> list[float]:
    return model.shape("age", label).table.tolist()


@pytest.mark.parametrize(
    ("operation", "pointer"),
    [
        ({"op": "explode", "feature": "age"}, "/operations/0"),
        ({"op": "set", "feature": "age"}, "/operations/0/value"),
        ({"op": "set", "feature": "wage", "value": 1}, "/operations/0/feature"),
        ({"op": "set", "feature": "age", "value": math.nan}, "/operations/0/value"),
        ({"op": "set", "feature": "age", "value": "1"}, "/operations/0/value"),
        ({"op": "set", "feature": "age", "value": 1, "lo": 3, "hi": 3}, "/operations/0"),
        ({"op": "set", "feature": "age", "value": 1, "lo": math.inf}, "/operations/0/lo"),
        ({"op": "set", "feature": "age", "value": 1, "lo": 3, "missing": True}, "/operations/0"),
        ({"op": "set", "feature": "age", "value": 1, "level": "a"}, "/operations/0/level"),
        ({"op": "set", "feature": "plan", "value": 1, "level": "a"}, "/operations/0/level"),
        ({"op": "set", "feature": "plan", "value": 1, "lo": 0}, "/operations/0/lo"),
        ({"op": "set", "feature": "age", "value": 1, "class": "b"}, "/operations/0/class"),
        ({"op": "clamp", "feature": "age"}, "/operations/0"),
        ({"op": "clamp", "feature": "age", "min": 2, "max": 1}, "/operations/0"),
        ({"op": "smooth", "feature": "age", "window": 4}, "/operations/0/window"),
        ({"op": "smooth", "feature": "age", "window": -1}, "/operations/0/window"),
        ({"op": "smooth", "feature": "plan", "window": 3}, "/operations/0/feature"),
        ({"op": "merge", "feature": "plan"}, "/operations/0/feature"),
        ({"op": "monotonise", "feature": "plan", "direction": "increasing"}, "/operations/0/feature"),
        ({"op": "monotonise", "feature": "age", "direction": "up"}, "/operations/0/direction"),
        ({"op": "rescale", "feature": "age", "factor": 1e308, "extra": 1}, "/operations/0/extra"),
        ({"op": "rescale", "feature": "age", "factor": 1.7e308}, "/operations/0"),
    ],
)
def test_a_wrong_operation_is_refused_with_the_place(operation, pointer):
    with pytest.raises(InvalidInput) as caught:
        edit(MODEL, [operation])
    assert caught.value.pointer is not None
    assert caught.value.pointer.startswith(pointer)


def test_a_class_that_is_none_of_the_models_is_refused():
    with pytest.raises(InvalidInput, match="no class 'd'") as caught:
        edit(CLASSES, one("remove") + one("remove", **{"class": "d"}))
    assert caught.value.pointer == "/operations/1/class"
