"""Logistic regression: it finds the coefficients that drew the sides, and lives as numbers."""

import networkx
import numpy as np
import pytest
from pydantic import ValidationError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from solvers.graphs.canonical import canonicalise
from solvers.graphs.graph import Graph
from solvers.graphs.predictors.features import FEATURES
from solvers.graphs.predictors.logistic import LogisticModel
from solvers.graphs.predictors.solved_instances import Solved
from solvers.graphs.predictors.subjects import Subject, subject_of
from tests.solvers.graphs.predictors.past_sets import PAST, solved

TRAIN = [solved(graph) for graph in PAST["train"][:4]]


def fitted(past=TRAIN) -> LogisticModel:
    return LogisticModel.fit(past, seed=0)


def rows_of(subject: Subject) -> np.ndarray:
    return subject.features.rows(np.arange(len(subject.item_of)))


def test_probabilities_are_those_of_scikit_learns_own_pipeline():
    rows = np.vstack([rows_of(one.subject) for one in TRAIN])
    sides = np.concatenate([one.truth[one.subject.item_of] for one in TRAIN])
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000, tol=1e-8)).fit(rows, sides)

    new = solved(PAST["test"][0])
    expected = pipeline.predict_proba(rows_of(new.subject))[:, 1]
    assert fitted().forecast(new.subject).votes == pytest.approx(expected, abs=1e-5)


def test_a_vertex_has_the_mean_probability_of_its_edges():
    new = solved(PAST["test"][1])
    forecast = fitted().forecast(new.subject)
    for v in range(PAST["n"]):
        of_v = forecast.votes[new.subject.item_of == v]
        assert forecast.items[v] == pytest.approx(of_v.mean()) if len(of_v) else np.isnan(forecast.items[v])


def test_new_graphs_are_predicted_better_than_by_the_commoner_side():
    new = solved(PAST["test"][2])
    is_right = (fitted().forecast(new.subject).items > 0.5) == new.truth
    assert is_right.mean() > max(new.truth.mean(), 1 - new.truth.mean()) + 0.1


def test_one_side_alone_is_predicted_by_the_rule_of_succession():
    path = subject_of(canonicalise(Graph(3, [[0, 1], [1, 2]])), "independent-set")
    past = [Solved(path, np.zeros(3, np.int8))]
    assert fitted(past).forecast(path).items == pytest.approx([1 / 6] * 3)


def test_graphs_without_edges_are_no_fault():
    past = [Solved(subject_of(canonicalise(Graph(3, [])), "independent-set"), np.ones(3, np.int8))]
    assert np.isnan(fitted(past).forecast(past[0].subject).items).all()


@pytest.mark.parametrize("is_turned", [False, True])
def test_a_cut_teaches_the_same_however_it_is_turned(is_turned):
    star = subject_of(canonicalise(Graph.from_objects(networkx.star_graph(5))), "max-cut")
    cut = np.array([0, 1, 1, 1, 1, 1], np.int8)
    past = [Solved(star, 1 - cut if is_turned else cut)]
    assert (fitted(past).forecast(star).items > 0.5).tolist() == [True] + [False] * 5


def test_the_same_seed_fits_the_same_model(monkeypatch):
    monkeypatch.setattr("solvers.graphs.predictors.logistic.MOST_ROWS", 400)
    assert fitted() == fitted()


def test_it_survives_its_file():
    assert LogisticModel.model_validate_json(fitted().model_dump_json()) == fitted()


@pytest.mark.parametrize(
    "changed",
    [
        {"coefficients": [1.0]},
        {"scales": [0.0] * len(FEATURES["max-cut"])},
        {"features": ["log_degree"] * len(FEATURES["max-cut"])},
        {"intercept": "1"},
        {"means": ["__import__('os')"] * len(FEATURES["max-cut"])},
    ],
)
def test_a_model_that_does_not_fit_together_is_refused(changed):
    zeros = [0.0] * len(FEATURES["max-cut"])
    fields = {"features": list(FEATURES["max-cut"]), "means": zeros, "scales": [1.0] * len(zeros), "coefficients": zeros}
    LogisticModel.model_validate(fields | {"intercept": 0.0})
    with pytest.raises(ValidationError):
        LogisticModel.model_validate(fields | {"intercept": 0.0} | changed)
