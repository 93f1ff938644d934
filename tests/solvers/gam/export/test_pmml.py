from xml.etree import ElementTree

import numpy as np
import pytest
from pypmml import Model

from solvers.gam import AdditiveModel, ShapeFunction
from solvers.gam.export.pmml import to_pmml
from solvers.operation import InvalidInput
from tests.solvers.gam.export.scored import LINKS, assert_equal_scores, scored_by_the_model
from tests.solvers.gam.random_models import a_model, rows_for
from tests.solvers.gam.scoring_vectors import COLUMNS, CONTRIBUTIONS, DECISIONS, DOCUMENT, PROBABILITIES


def run(document: str, columns: dict) -> dict:
    evaluator = Model.fromString(document)
    answers = [evaluator.predict(dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]
    return {name: [answer[name] for answer in answers] for name in answers[0]}


def test_the_vectors_are_scored_alike():
    answer = run(to_pmml(AdditiveModel.from_json(DOCUMENT)), COLUMNS)
    parts = np.transpose([answer[f"f_{feature['name']}"] for feature in DOCUMENT["features"]])
    np.testing.assert_array_equal(parts, CONTRIBUTIONS)
    np.testing.assert_allclose(answer["decision"], DECISIONS, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(answer["p_yes"], PROBABILITIES, rtol=1e-12)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("seed", range(6))
def test_the_document_scores_as_the_model_does(link, seed):
    model = a_model(seed, link)
    columns = rows_for(model, seed)
    assert_equal_scores(run(to_pmml(model), columns), scored_by_the_model(model, columns))


def test_nan_is_missing():
    shape = ShapeFunction("x", "numeric", [-1, 1], [0.0], missing=5)
    model = AdditiveModel("regression", "identity", [0.5], [[shape]])
    assert run(to_pmml(model), {"x": [np.nan]})["prediction"] == [5.5]


@pytest.mark.parametrize("classes", [(3, -4), (1.5, 2.5), (True, False)])
def test_classes_that_are_no_texts_are_given_back(classes):
    model = AdditiveModel("classification", "logit", [0.0], [[ShapeFunction("x", "numeric", [-1, 1], [0.0])]], classes)
    expected = [str(label) for label in classes] if isinstance(classes[0], bool) else list(classes)
    assert run(to_pmml(model), {"x": [-1.0, 1.0]})["prediction"] == expected


def test_missing_offsets_give_no_prediction_and_missing_exposures_count_as_one():
    plain, rate = a_model(1, "identity"), a_model(1, "log")
    columns = rows_for(plain, 1) | {plain.offset.column: [None] * 60}
    assert np.isnan(run(to_pmml(plain), columns)["prediction"]).all()  # what this evaluator says of a missing result
    columns = rows_for(rate, 1) | {rate.offset.column: [1.0] * 60}
    expected = scored_by_the_model(rate, columns)
    assert_equal_scores(run(to_pmml(rate), columns | {rate.offset.column: [None] * 60}), expected)


def test_decisions_of_any_size_give_probabilities_of_two_classes():
    shape = ShapeFunction("x", "numeric", [-1e5, 1e5], [0.0])
    model = AdditiveModel("classification", "logit", [0.5], [[shape]], ("a", "b"))
    columns = {"x": [-1.0, 1.0]}
    assert_equal_scores(run(to_pmml(model), columns), scored_by_the_model(model, columns))


def test_the_document_is_well_formed_and_names_no_outside_entity():
    document = to_pmml(a_model(4, "softmax"))
    assert "<!" not in document
    assert ElementTree.fromstring(document).tag == "{http://www.dmg.org/PMML-4_4}PMML"


@pytest.mark.parametrize("name", ["a\0b", "\x07", "\ufffe"])
def test_what_xml_cannot_write_is_refused(name):
    for shape in (ShapeFunction(name, "numeric", [1.0]), ShapeFunction("x", "categorical", [1.0], levels=(name,))):
        with pytest.raises(InvalidInput, match="XML cannot write") as refused:
            to_pmml(AdditiveModel("regression", "identity", [0.0], [[shape]]))
        assert (refused.value.pointer, refused.value.members) == ("/format", {"column": shape.name})
