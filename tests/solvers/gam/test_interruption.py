"""Long loops end soon after they are told to, with what they have; asking changes nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from solvers.gam import interruption
from solvers.gam.forest import ForestOptions, fit_forest, one_swap_residual
from solvers.gam.gram import build_gram, respond
from solvers.gam.interruption import Interrupted, portions
from solvers.gam.joint_fit import constrained_fit
from solvers.gam.losses import GammaLoss, HuberLoss, LogisticLoss, Loss, PoissonLoss, QuantileLoss, SquaredLoss
from solvers.gam.lower_bound import certify
from solvers.gam.panel_cholesky import factor_in_place
from solvers.gam.relaxation import Relaxation
from solvers.gam.row_engine import RowProducts
from solvers.gam.sample import Sample
from solvers.gam.training import Computing, Search, prepare, train

LOSSES: list[Loss] = [SquaredLoss(), LogisticLoss(), PoissonLoss(), GammaLoss(), HuberLoss(1.0), QuantileLoss(0.5)]


class YesAfter:
    """Says yes once it was asked so often, and from then on."""

    def __init__(self, asks: int) -> None:
        self.asks, self.asked = asks, 0

    def __call__(self) -> bool:
        self.asked += 1
        return self.asked > self.asks


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every loop asks all the time, however little it has to do."""
    monkeypatch.setattr(interruption, "WORK_BETWEEN_ASKS", 1)
    monkeypatch.setattr("solvers.gam.gram.WORK_BETWEEN_ASKS", 1)
    monkeypatch.setattr("solvers.gam.relaxation.SWEPT_UNASKED", 0)
    monkeypatch.setattr("solvers.gam.joint_fit.ROUNDS_UNASKED", 0)
    monkeypatch.setattr("solvers.gam.forest.LARGE", 0)
    monkeypatch.setattr("solvers.gam.panel_cholesky.LARGE", 0)
    monkeypatch.setattr("solvers.gam.panel_cholesky.PANEL", 3)
    monkeypatch.setattr("solvers.gam.bands.MOST_STEPS_UNASKED", 0)


def rows(loss: Loss | None = None, n: int = 300, **how: object) -> Sample:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3, n)).round(1)
    F = np.sin(2 * X[0]) + (X[1] > 0)
    link = "identity" if loss is None else loss.link
    y = {
        "logit": lambda: (rng.random(n) < 1 / (1 + np.exp(-F))).astype(float),
        "log": lambda: rng.poisson(np.exp(F)) + 0.5,
        "identity": lambda: F + rng.normal(0, 0.5, n),
    }[link]()
    return prepare(list(X), ["a", "b", "c"], y, **how)  # type: ignore[arg-type]


def test_portions_cover_everything_once() -> None:
    for number in (0, 1, 7, 100):
        for work in (0, 1, interruption.WORK_BETWEEN_ASKS // 7, 10 * interruption.WORK_BETWEEN_ASKS):
            pieces = [piece for first, last in portions(number, work) for piece in range(first, last)]
            assert pieces == list(range(number))


@pytest.mark.parametrize("engine", [build_gram, RowProducts])
@pytest.mark.parametrize("limits", [{}, {"l1": 3.0}, {"smoothing": 0.5}, {"max_features": 2, "l0": 0.5}])
@pytest.mark.usefixtures("often")
def test_a_sweep_that_is_cut_short_leaves_a_forest_of_its_objective(engine: Callable, limits: dict) -> None:
    sample = rows()
    products, response = engine(sample.table, sample.columns), respond(sample.table, sample.columns, sample.target)
    options = ForestOptions(n_stumps=40, alpha=2.0, tol=0.0, max_iter=4, **limits)
    objectives = []
    for asks in (0, 1, 3, 10, 30, 100, 300):
        forest = fit_forest(products, response, sample.columns, options, should_stop=YesAfter(asks))
        decision = sample.decision(forest) + forest.intercept
        used = forest.steps != 0
        pays = options.alpha / 2 * np.sum(forest.steps**2 / (options.smoothing + forest.multiplicity))
        pays += options.l1 * np.abs(forest.steps).sum() + options.l0 * forest.multiplicity.sum()
        assert used.all()
        assert forest.objective == pytest.approx(np.sum((sample.target - decision) ** 2) / 2 + pays, rel=1e-10)
        objectives.append(forest.objective)
    assert (np.diff(objectives) <= 1e-9 * objectives[0]).all()
    assert objectives[2] < objectives[0]  # within the first sweep


@pytest.mark.usefixtures("often")
def test_a_sweep_asks_after_every_portion_of_its_stumps() -> None:
    sample = rows()
    response = respond(sample.table, sample.columns, sample.target)
    ask = YesAfter(3)
    fit_forest(build_gram(sample.table, sample.columns), response, sample.columns, ForestOptions(100_000, 1.0), should_stop=ask)
    assert ask.asked < 10


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_asking_often_changes_nothing(loss: Loss, request: pytest.FixtureRequest) -> None:
    sample, options = rows(loss), ForestOptions(30, 1.0)
    search = Search(init="best", n_restarts=2)
    whole = train(sample, loss, options, search=search)
    bound = whole.certify().lower_bound
    request.getfixturevalue("often")
    asked = YesAfter(10**9)
    again = train(sample, loss, options, search=search, should_stop=asked)
    assert again.objective == pytest.approx(whole.objective, rel=1e-9)
    found = again.certify(should_stop=asked).lower_bound
    assert found is None if bound is None else found == pytest.approx(bound, rel=1e-9)
    assert asked.asked > 100


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("engine", ["gram", "rows"])
@pytest.mark.usefixtures("often")
def test_a_fit_ends_within_a_few_asks_with_the_best_so_far(loss: Loss, engine: str) -> None:
    sample, options = rows(loss), ForestOptions(30, 1.0, tol=0.0)
    constant = train(sample, loss, ForestOptions(0, 1.0)).objective
    for asks in (0, 1, 2, 4, 8, 16, 40, 120):
        ask = YesAfter(asks)
        how = Search(init="best", n_restarts=3)
        fit = train(sample, loss, options, search=how, computing=Computing(engine), should_stop=ask)  # type: ignore[arg-type]
        assert ask.asked <= asks + 25
        assert fit.objective == fit.history[-1] <= constant * (1 + 1e-12)
        proof = fit.certify(should_stop=lambda: True)
        assert proof.lower_bound is None or 0 <= proof.lower_bound <= fit.objective * (1 + 1e-12)


@pytest.mark.usefixtures("often")
def test_classes_end_between_two_of_their_forests() -> None:
    sample = rows()
    target = np.digitize(sample.target, [0.0, 1.0]).astype(float)
    sample = Sample(sample.table, sample.columns, target, None)
    objectives = []
    for asks in (0, 2, 5, 20, 80):
        ask = YesAfter(asks)
        fit = train(sample, LogisticLoss(), ForestOptions(20, 1.0), n_classes=3, should_stop=ask)
        assert ask.asked <= asks + 60
        assert fit.objective == fit.history[-1]
        objectives.append(fit.objective)
    shares = np.bincount(target.astype(int)) / len(target)
    assert max(objectives) <= -np.sum(np.log(shares[target.astype(int)])) * (1 + 1e-12)


@pytest.mark.usefixtures("often")
def test_rows_that_could_not_be_summed_up_give_the_best_constant_and_a_bound() -> None:
    sample = rows()
    fit = train(sample, SquaredLoss(), ForestOptions(30, 1.0), should_stop=lambda: True)
    best = train(sample, SquaredLoss(), ForestOptions(30, 1.0), search=Search(init="best"))
    assert fit.sums is None
    assert fit.objective == pytest.approx(np.sum((sample.target - sample.target.mean()) ** 2) / 2, rel=1e-12)
    assert 0 < fit.certify().lower_bound <= best.objective
    assert fit.with_sums().certify().lower_bound >= fit.certify().lower_bound


@pytest.mark.usefixtures("often")
def test_a_proof_that_is_cut_short_is_a_weaker_one() -> None:
    sample = rows()
    products, response = build_gram(sample.table, sample.columns), respond(sample.table, sample.columns, sample.target)
    options = ForestOptions(30, 1.0)
    forest = fit_forest(products, response, sample.columns, options)
    bounds = []
    for asks in (0, 20, 400, 10**9):
        proof = certify(products, response, sample.columns, options, forest, n_rows=300, should_stop=YesAfter(asks))
        bounds.append(proof.lower_bound)
    assert bounds == sorted(bounds)
    assert 0 < bounds[0] < bounds[-1] <= forest.objective
    assert one_swap_residual(products, response, sample.columns, options, forest, lambda: True) is None


@pytest.mark.usefixtures("often")
def test_relaxed_heights_are_of_use_at_any_time() -> None:
    sample = rows()
    products, response = build_gram(sample.table, sample.columns), respond(sample.table, sample.columns, sample.target)
    objectives = []
    for asks in (0, 5, 50, 500):
        relaxation = Relaxation(products, response, sample.columns, mu=0.05, should_stop=YesAfter(asks))
        relaxation.solve()
        objectives.append(relaxation.objective())
    assert (np.diff(objectives) <= 0).all()
    assert objectives[-1] < objectives[0] < response.squares / 2


def test_panels_give_the_factor_of_the_whole() -> None:
    rng = np.random.default_rng(0)
    for size, panel in ((1, 1), (7, 3), (12, 4), (30, 7), (30, 40)):
        root = rng.normal(size=(size, size + 5))
        matrix, right = root @ root.T, rng.normal(size=size)
        factor = matrix.copy()
        factor_in_place(factor, panel=panel)
        lower = np.tril(factor)
        np.testing.assert_allclose(lower @ lower.T, matrix, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(
            np.linalg.solve(lower.T, np.linalg.solve(lower, right)), cho_solve(cho_factor(matrix), right), rtol=1e-6
        )
    with pytest.raises(LinAlgError):
        factor_in_place(-np.eye(5), panel=2)
    with pytest.raises(Interrupted):
        factor_in_place(np.eye(5), lambda: True, panel=2)


@pytest.mark.usefixtures("often")
def test_a_joint_fit_with_signs_is_interrupted() -> None:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(40, 10))
    with pytest.raises(Interrupted):
        constrained_fit(
            root @ root.T, rng.normal(size=40), np.full(40, 1e-3), l1=0.01, sign=np.zeros(40), should_stop=lambda: True
        )
