"""Small problems drawn at random, of the kinds of the vectors in `tests/data/gam`, against solvers that share no code with ours.

The oracles work on rows and 0/1 columns of their own making; nothing of the engine but the fit under test is used.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import minimize, nnls

from solvers.gam.binning import bin_table
from solvers.gam.candidate_columns import candidate_columns
from solvers.gam.estimators import StumpForestRegressor
from solvers.gam.forest import Forest, ForestOptions
from solvers.gam.gram import build_gram, respond
from solvers.gam.leaf_newton import fit_leaves
from solvers.gam.losses import GammaLoss, LogisticLoss, PoissonLoss, SquaredLoss
from solvers.gam.restarts import best_forest
from solvers.gam.sample import Sample
from solvers.gam.stump_updates import rules, stumps_on
from solvers.gam.training import prepare, train


@dataclass(frozen=True)
class Drawn:
    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    cuts: list[tuple[int, float]]  # (feature, threshold) of each column, -inf for "not missing"
    U: np.ndarray  # the columns, 0 or 1

    def centred(self) -> tuple[np.ndarray, np.ndarray]:
        share = self.weights / self.weights.sum()
        return self.U - share @ self.U, self.y - share @ self.y

    def objective(self, b: np.ndarray, penalty: float) -> float:
        U, z = self.centred()
        return float(self.weights @ (z - U @ b) ** 2 / 2 + penalty)


def drawn(seed: int, n: int = 14, *, least: float = 0.0, weighted: bool = True, missing: bool = True, digits: int = 1) -> Drawn:
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 6, size=(n, 2)).round(digits)
    if missing and seed % 3 == 0:
        X[rng.random(n) < 0.2, 1] = np.nan
    weights = rng.integers(1, 4, n).astype(float) if weighted and seed % 2 else np.ones(n)
    y = (np.where(np.nan_to_num(X[:, 0]) > 3, 2.0, 0.0) - np.nan_to_num(X[:, 1]) / 2 + rng.normal(size=n)).round(3)
    cuts, columns = [], []
    for d in range(2):
        x, present = X[:, d], ~np.isnan(X[:, d])
        values = sorted(set(x[present].tolist()))
        thresholds = [*([-math.inf] if not present.all() else []), *((a + b) / 2 for a, b in itertools.pairwise(values))]
        for threshold in thresholds:
            right = present & (np.nan_to_num(x) > threshold)
            if min(weights[right].sum(), weights[~right].sum()) >= max(least, 1e-9):
                cuts.append((d, threshold))
                columns.append(right.astype(float))
    return Drawn(X, y, weights, cuts, np.array(columns).T)


def fitted(problem: Drawn, **params: object) -> StumpForestRegressor:
    how = {"max_bins": None, "min_samples_leaf": 0, "tol": 0.0, "max_iter": 200} | params
    return StumpForestRegressor(**how).fit(problem.X, problem.y, problem.weights)  # type: ignore[arg-type]


def ridge(problem: Drawn, columns: list[int], penalties: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the best heights of some columns under a ridge of each, and the objective."""
    U, z = problem.centred()
    A, w = U[:, columns], problem.weights
    b = np.linalg.lstsq(
        np.vstack([np.sqrt(w)[:, None] * A, np.diag(np.sqrt(penalties))]),
        np.append(np.sqrt(w) * z, np.zeros(len(columns))),
        rcond=None,
    )[0]
    return b, float(w @ (z - A @ b) ** 2 / 2 + penalties @ b**2 / 2)


def slow_thresholds(x: list[float], most: int) -> list[float]:
    """The rule of the specification, element by element."""
    values = sorted(x)
    distinct = sorted(set(values))
    if len(distinct) <= most:
        left = distinct[:-1]
    else:
        left = sorted({values[(len(values) - 1) * k // most] for k in range(1, most)} - {distinct[-1]})
    cuts = []
    for a in left:
        b = distinct[distinct.index(a) + 1]
        middle = a + (b - a) / 2
        cuts.append(a if middle == b else middle)
    return cuts


@pytest.mark.parametrize("seed", range(12))
def test_thresholds_and_bins_follow_the_rule(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kind = [rng.normal(size=200), rng.integers(0, 30, 200) / 4, rng.exponential(size=200).round(2), np.full(50, 7.0)][seed % 4]
    x = np.append(kind, np.nextafter(kind[:3], np.inf))
    for most in (2, 3, 10, 64, 256):
        holes = np.append(x, [np.nan, np.nan])
        (feature,), table = (bins := bin_table([holes], ["x"], max_bins=most)).features, bins.codes[0]
        cuts = slow_thresholds(x.tolist(), most)
        assert feature.thresholds.tolist() == cuts
        assert table.tolist() == [0 if math.isnan(v) else 1 + sum(cut < v for cut in cuts) for v in holes]


@pytest.mark.parametrize("seed", range(24))
def test_one_stump_is_the_best_of_all(seed: int) -> None:
    alpha, least = (0.0, 0.5, 4.0)[seed % 3], (0, 2, 4)[seed // 3 % 3]
    problem = drawn(seed, least=least)
    model = fitted(problem, n_stumps=1, alpha=alpha, min_samples_leaf=least)
    values = [ridge(problem, [j], np.array([alpha])) for j in range(len(problem.cuts))]
    best = min(range(len(values)), key=lambda j: values[j][1])
    assert model.objective_ == pytest.approx(values[best][1], abs=1e-9)
    (stump,) = model.stumps_
    assert (stump["feature"], stump["threshold"]) == (problem.cuts[best][0], pytest.approx(problem.cuts[best][1]))
    assert stump["step"] == pytest.approx(values[best][0][0], abs=1e-9)
    table = bin_table(list(problem.X.T), ["a", "b"], max_bins=None)
    assert len(candidate_columns(table, problem.weights, min_samples_leaf=least)) == len(problem.cuts)


@pytest.mark.parametrize("seed", range(12))
def test_no_forest_is_below_the_optimum_and_restarts_reach_it(seed: int) -> None:
    problem = drawn(seed, n=10, digits=0)
    n_stumps, alpha = 2 + seed % 2, (0.3, 1.0, 3.0)[seed % 3]
    optimum = min(
        ridge(problem, sorted(set(chosen)), np.array([alpha / chosen.count(j) for j in sorted(set(chosen))]))[1]
        for chosen in itertools.combinations_with_replacement(range(len(problem.cuts)), n_stumps)
    )
    greedy = fitted(problem, n_stumps=n_stumps, alpha=alpha, certificate_iterations=5000)
    best = fitted(problem, n_stumps=n_stumps, alpha=alpha, init="best", n_restarts=20)
    assert optimum - 1e-9 <= best.objective_ <= greedy.objective_
    assert best.objective_ == pytest.approx(optimum, abs=1e-9)
    assert greedy.lower_bound_ <= relaxed(problem, alpha / n_stumps) * (1 + 1e-7) <= optimum * (1 + 1e-6)


def relaxed(problem: Drawn, mu: float) -> float:
    """Return the optimum of the relaxation, from the parts of each height of either sign."""
    U, z = problem.centred()
    p, w = U.shape[1], problem.weights

    def value(parts: np.ndarray) -> tuple[float, np.ndarray]:
        b, total = parts[:p] - parts[p:], parts.sum()
        residual = z - U @ b
        slope = -U.T @ (w * residual)
        return float(w @ residual**2 / 2 + mu * total**2 / 2), np.append(slope, -slope) + mu * total

    options = {"maxiter": 20_000, "maxfun": 10**6, "ftol": 1e-15, "gtol": 1e-9}
    return float(minimize(value, np.zeros(2 * p), jac=True, bounds=[(0, None)] * (2 * p), options=options).fun)


@pytest.mark.parametrize("seed", range(8))
def test_sweeps_move_stumps_as_plain_search_does(seed: int) -> None:
    problem, n_stumps, alpha = drawn(seed, missing=False), 4, 0.7
    U, z = problem.centred()
    w = problem.weights
    null = float(w @ z**2 / 2)
    table = bin_table(list(problem.X.T), ["a", "b"], max_bins=None)
    columns = candidate_columns(table, w, min_samples_leaf=0)
    gram, response = build_gram(table, columns, w), respond(table, columns, problem.y, w)
    state = stumps_on(np.full(n_stumps, -1), np.zeros(n_stumps), columns)
    rule = rules(columns, gram.diagonal, gram.total, null_objective=null, alpha=alpha)
    correlations = response.correlations.copy()
    place, step = [-1] * n_stumps, [0.0] * n_stumps
    for _ in range(4):
        for t in range(n_stumps):
            others = sum((step[k] * U[:, place[k]] for k in range(n_stumps) if k != t and place[k] >= 0), np.zeros(len(z)))
            s = [float(U[:, j] @ (w * (z - others))) for j in range(U.shape[1])]
            curved = [float(w @ U[:, j] ** 2) + alpha for j in range(U.shape[1])]
            gain = [s[j] ** 2 / (2 * curved[j]) for j in range(U.shape[1])]
            best = next(j for j in range(U.shape[1]) if gain[j] >= max(gain) * (1 - 1e-12))
            if place[t] < 0 or gain[best] > gain[place[t]] * (1 + 1e-9) + 1e-12 * null:
                place[t] = best
            step[t] = s[place[t]] / curved[place[t]]
        gram.sweep(rule, correlations, state)
        assert state.columns.tolist() == place
        np.testing.assert_allclose(state.steps, step, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "loss", [SquaredLoss(), LogisticLoss(), PoissonLoss(), GammaLoss()], ids=lambda loss: type(loss).__name__
)
def test_leaves_are_those_of_a_general_solver(loss: object, seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = drawn(seed, n=40, missing=False)
    chosen = np.sort(rng.choice(len(problem.cuts), 4, replace=False))
    multiplicity = rng.integers(1, 4, 4)
    offset = np.log(rng.uniform(0.5, 3, 40)) if isinstance(loss, PoissonLoss | GammaLoss) else np.zeros(40)
    y = {
        "logit": (problem.y > np.median(problem.y)).astype(float),
        "log": rng.poisson(np.exp(offset + 0.5)) + (0.5 if isinstance(loss, GammaLoss) else 0.0),
    }.get(loss.link, problem.y)  # type: ignore[attr-defined]
    A, alpha = problem.U[:, chosen], 1.5

    def value(parameters: np.ndarray) -> float:
        F = offset + parameters[0] + A @ parameters[1:]
        each = {
            "SquaredLoss": lambda: (y - F) ** 2 / 2,
            "LogisticLoss": lambda: np.logaddexp(0, F) - y * F,
            "PoissonLoss": lambda: np.exp(F) - y * F,
            "GammaLoss": lambda: F + y * np.exp(-F),
        }[type(loss).__name__]()
        return float(problem.weights @ each + alpha / 2 * np.sum(parameters[1:] ** 2 / multiplicity))

    reference = minimize(value, np.zeros(5), method="BFGS", options={"gtol": 1e-9, "maxiter": 10_000})
    table = bin_table(list(problem.X.T), ["a", "b"], max_bins=None)
    columns = candidate_columns(table, problem.weights, min_samples_leaf=0)
    start = Forest(chosen, np.zeros(4), multiplicity, 0.0, np.inf, (), False)
    sample = Sample(table, columns, y, problem.weights, offset)
    forest = fit_leaves(sample, loss, ForestOptions(alpha=alpha), start, offset)  # type: ignore[arg-type]
    assert value(np.append(forest.intercept, forest.steps)) == pytest.approx(forest.objective, rel=1e-10)
    assert forest.objective <= reference.fun + 1e-9 * abs(reference.fun)
    np.testing.assert_allclose(np.append(forest.intercept, forest.steps), reference.x, atol=2e-5)


def best_segments(y: np.ndarray, w: np.ndarray, at_most: int) -> float:
    """Return half the least weighted sum of squares of a function with so many steps, the rows in order of x."""
    n = len(y)

    def half_sse(i: int, j: int) -> float:
        part, h = y[i:j], w[i:j]
        return float(h @ (part - h @ part / h.sum()) ** 2) / 2

    best = [0.0] + [math.inf] * n
    for _ in range(at_most + 1):
        best = [0.0, *(min(best[i] + half_sse(i, j) for i in range(j) if best[i] < math.inf) for j in range(1, n + 1))]
    return best[n]


def test_restarts_find_the_best_step_function_of_nearly_every_drawn_problem() -> None:
    found, cases = 0, 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        x, y = np.sort(rng.choice(200, 14, replace=False)) / 10, rng.normal(size=14).round(3)
        w = rng.integers(1, 4, 14).astype(float) if seed % 2 else np.ones(14)
        table = bin_table([x], ["x"], max_bins=None)
        columns = candidate_columns(table, w, min_samples_leaf=0)
        gram, response = build_gram(table, columns, w), respond(table, columns, y, w)
        for n_steps in (1, 2, 3, 4):
            optimum = best_segments(y, w, n_steps)
            options = ForestOptions(n_stumps=n_steps, alpha=1e-9)
            forest = best_forest(gram, response, columns, options, n_restarts=20, rng=np.random.default_rng(0))
            assert optimum - 1e-9 <= forest.objective <= 1.1 * optimum + 1e-7
            found += forest.objective <= optimum + 1e-7
            cases += 1
    assert cases == 32
    assert found >= 28


@pytest.mark.parametrize("seed", range(6))
def test_monotone_fits_reach_the_optimum_under_their_signs(seed: int) -> None:
    least, alpha, signs = 2, 0.4, ((1, -1), (1, 1), (-1, 0))[seed % 3]
    problem = drawn(seed, n=20, least=least, missing=False)
    U, z = problem.centred()
    p = U.shape[1]
    of_column = np.array([signs[d] for d, _ in problem.cuts])
    parts = np.hstack([U[:, of_column >= 0], -U[:, of_column <= 0]])
    root = np.sqrt(problem.weights)
    # A stump for every column: that many share the ridge of each, alpha.
    A = np.vstack([root[:, None] * parts, np.sqrt(alpha) * np.eye(parts.shape[1])])
    _, distance = nnls(A, np.append(root * z, np.zeros(parts.shape[1])), maxiter=10_000)
    model = fitted(problem, n_stumps=1, alpha=1.0, min_samples_leaf=least, monotonic_cst=list(signs))
    assert all(stump["step"] * signs[stump["feature"]] >= 0 for stump in model.stumps_)
    forest = fit_every_column(problem, alpha, least, signs)
    assert forest.objective == pytest.approx(distance**2 / 2, rel=1e-7)
    assert len(forest.columns) <= p
    grid = np.array([-1e300, *np.linspace(-1, 7, 60), 1e300])
    for d, sign in enumerate(signs):
        at = np.full((len(grid), 2), 3.0)
        at[:, d] = grid
        many = fitted(problem, n_stumps=60, alpha=alpha, min_samples_leaf=least, monotonic_cst=list(signs))
        assert sign == 0 or np.all(sign * np.diff(many.predict(at)) >= 0)


def fit_every_column(problem: Drawn, alpha: float, least: float, signs: tuple[int, int]) -> Forest:
    """Fit the heights of one stump on each column."""
    sample = prepare(
        list(problem.X.T),
        ["a", "b"],
        problem.y,
        weights=problem.weights,
        max_bins=None,
        min_samples_leaf=least,
        monotonic_cst=np.array(signs),
    )
    everywhere = np.arange(len(sample.columns))
    start = Forest(everywhere, np.zeros(len(everywhere)), np.ones(len(everywhere), dtype=np.int64), 0.0, np.inf, (), False)
    offset = np.zeros(len(problem.y))
    return fit_leaves(sample, SquaredLoss(), ForestOptions(alpha=alpha), start, offset)


@pytest.mark.parametrize("seed", range(8))
def test_the_bound_is_the_formula_on_the_rows(seed: int) -> None:
    problem, n_stumps, alpha = drawn(seed, n=30), 5, 1.5
    sample = prepare(list(problem.X.T), ["a", "b"], problem.y, weights=problem.weights, max_bins=None, min_samples_leaf=0)
    fit = train(sample, SquaredLoss(), ForestOptions(n_stumps=n_stumps, alpha=alpha))
    U, z = problem.centred()
    w, b = problem.weights, fit.forests[0].heights(U.shape[1])
    r = z - U @ b
    a = float(w @ (z * r))
    bound = a**2 / (2 * (float(w @ r**2) + n_stumps * np.abs(U.T @ (w * r)).max() ** 2 / alpha))
    proof = fit.certify(0)
    assert proof.lower_bound == pytest.approx(bound, rel=1e-9)
    assert fit.objective == pytest.approx(
        problem.objective(b, alpha / 2 * np.sum(fit.forests[0].steps ** 2 / fit.forests[0].multiplicity)), rel=1e-9
    )
    assert proof.gap == pytest.approx(1 - bound / fit.objective, rel=1e-9)
    tight = fit.certify(20_000).lower_bound
    assert bound <= tight <= relaxed(problem, alpha / n_stumps) * (1 + 1e-7) <= fit.objective * (1 + 1e-6)
