import warnings
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

from solvers.gam import AdditiveModel, ShapeFunction
from solvers.gam.plots import draw_importances, draw_shape, importance_image, shape_image
from solvers.operation import InvalidInput
from tests.solvers.gam.random_models import a_model

SVG = "{http://www.w3.org/2000/svg}"
AGE = ShapeFunction("age", "numeric", [-1, 2, 0.5], [20, 30], missing=0.25, weights=[1, 5, 3, 2], stderr=[0.1, 0.2, 0.3, 0.4])
PLAN = ShapeFunction("plan", "categorical", [1, -1], levels=("basic", "pro"), missing=0.5, stderr=[0.3, 0.2, 0.1])
MODEL = AdditiveModel("regression", "identity", [0], [[AGE], [PLAN]])


@pytest.fixture
def ax():
    return Figure().add_subplot()


def test_steps_are_drawn_at_the_thresholds(ax):
    draw_shape(MODEL, "age", ax)
    (steps,) = (patch for patch in ax.patches if hasattr(patch, "get_data"))
    assert steps.get_data().values.tolist() == [-1, 2, 0.5]
    assert steps.get_data().edges[1:-1].tolist() == [20, 30]
    assert not ax.collections


def test_a_band_reaches_as_far_as_its_level_says(ax):
    draw_shape(MODEL, "age", ax, band=0.95)
    (band,) = ax.collections
    heights = band.get_paths()[0].vertices[:, 1]
    np.testing.assert_allclose([heights.max(), heights.min()], [2 + 1.959964 * 0.3, -1 - 1.959964 * 0.2], rtol=1e-6)


def test_levels_are_drawn_as_points_with_their_names(ax):
    draw_shape(MODEL, "plan", ax, band=0.9)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["“basic”", "“pro”", "missing"]
    assert ax.lines[0].get_xdata().tolist() == [1, -1, 0.5]


def test_classes_with_other_levels_share_the_rows(ax):
    other = ShapeFunction("plan", "categorical", [3, 4], levels=("pro", "team"), unseen=9)
    model = AdditiveModel("classification", "softmax", [0, 0], [[PLAN, other]], ("a", "b"))
    draw_shape(model, "plan", ax)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["“basic”", "“pro”", "“team”", "missing"]
    assert [line.get_xdata().tolist() for line in ax.lines if len(line.get_xdata()) == 4] == [[1, -1, 0, 0.5], [9, 3, 4, 0]]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]


def test_one_class_may_be_drawn_alone(ax):
    model = AdditiveModel("classification", "softmax", [0, 0], [[AGE, AGE.shifted(5)]], ("a", "b"))
    draw_shape(model, "age", ax, label="b")
    assert len(ax.patches) == 1
    assert ax.patches[0].get_data().values.tolist() == [4, 7, 5.5]


def test_importances_are_drawn_largest_first(ax):
    draw_importances(MODEL, ax, most=1)
    assert [text.get_text() for text in ax.get_yticklabels()] == [MODEL.feature_names[int(np.argmax(MODEL.importances()))]]
    assert ax.patches[0].get_width() == MODEL.importances().max()


@pytest.mark.parametrize("link", ["identity", "softmax"])
@pytest.mark.parametrize("seed", range(2))
def test_any_model_has_pictures_and_the_same_ones_each_time(link, seed):
    model = a_model(seed, link)
    for name in model.feature_names:
        picture = shape_image(model, name)
        assert ElementTree.fromstring(picture).tag == f"{SVG}svg"
        assert shape_image(model, name) == picture
    assert importance_image(model, image_format="png").startswith(b"\x89PNG")
    assert importance_image(model) == importance_image(AdditiveModel.from_json(model.to_json()))


def test_a_hostile_name_is_text_and_no_markup():
    name = "<script>alert(1)</script>\n\x07 $\\frac{"
    plan = ShapeFunction(name, "categorical", [1.0, 2.0], levels=("$x$ <b>", "\x00\u202e"))
    picture = shape_image(AdditiveModel("regression", "identity", [0], [[plan]]), name)
    texts = ["".join(element.itertext()) for element in ElementTree.fromstring(picture).iter(f"{SVG}text")]
    assert any("<script>alert(1)</script>" in text for text in texts)
    assert not list(ElementTree.fromstring(picture).iter(f"{SVG}script"))


def test_drawing_leaves_matplotlib_as_it_was():
    before = dict(matplotlib.rcParams)
    shape_image(MODEL, "age", image_format="png")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("band", [0, 1, -0.5, 95, float("nan")])
def test_a_level_outside_0_and_1_is_refused(band):
    with pytest.raises(InvalidInput, match="confidence level"):
        shape_image(MODEL, "age", band=band)


def test_a_feature_or_class_that_is_not_there_is_refused():
    with pytest.raises(InvalidInput, match="no feature"):
        shape_image(MODEL, "wage")
    with pytest.raises(InvalidInput, match="class"):
        shape_image(MODEL, "age", label="a")
