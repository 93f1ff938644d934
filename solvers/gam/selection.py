"""The choice of the number of stumps and the ridge by cross-validation.

A grid of both, and the constant model beside it, is fitted to the training rows of each fold and scored on the rows held out
(:mod:`~solvers.gam.fold_search`). Without the constant model pure noise would be fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, BeforeValidator, Field, ValidationError
from sklearn.model_selection import check_cv

from solvers.gam.bands import Spread, resampled_spread
from solvers.gam.candidate_columns import bin_sums
from solvers.gam.fold_search import PILOT_ALPHA, Fold, FoldFits, FoldSearch, GridPoint
from solvers.gam.forest import Forest
from solvers.gam.interruption import Interrupted, ShouldStop, never
from solvers.gam.losses import LogisticLoss, Loss, PoissonLoss, QuantileLoss
from solvers.gam.parameters import Count, FitParameters, Number
from solvers.gam.row_errors import row_error
from solvers.gam.sample import Sample
from solvers.gam.shape_functions import Floats
from solvers.operation import InvalidInput

Rule = Literal["min", "parsimony", "one_se"]
Folds = Sequence[tuple[np.ndarray, np.ndarray]]

# A smaller model is preferred to the best one if its error is at most this much larger.
NEGLIGIBLE = 0.01

N_STUMPS = (50, 100, 200, 400, 800)
ALPHAS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)
THRESHOLD_FRACTIONS = (1.0, 0.5)
SMOOTH_SHARES = (0.0, 0.25, 0.5, 0.75)


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else value


class Grid(BaseModel):
    """Values to choose from, and the rule of the choice."""

    n_stumps: Annotated[list[Annotated[Count, Field(ge=0, le=1_000_000)]], BeforeValidator(_listed), Field(min_length=1)] = Field(
        list(N_STUMPS), description="Numbers of stumps; the constant model is always among the candidates."
    )
    alphas: Annotated[list[Annotated[Number, Field(ge=0)]], BeforeValidator(_listed), Field(min_length=1)] = Field(
        list(ALPHAS), description="Ridges; for Poisson and quantile loss in units of the mean curvature at the constant model."
    )
    rule: Rule = Field(
        "min",
        description="`min`: the least error; `parsimony`: the fewest stumps, then the largest ridge, of those within 1 % of it; "
        "`one_se`: of those within a standard error.",
    )

    threshold_fractions: Annotated[
        list[Annotated[Number, Field(gt=0, le=1)]], BeforeValidator(_listed), Field(min_length=1, max_length=50)
    ] = Field([1.0], description="Of averages that are tried for the best forest by rule `min`, see `threshold_fraction`.")
    smooth_shares: Annotated[
        list[Annotated[Number, Field(ge=0, lt=1)]], BeforeValidator(_listed), Field(min_length=1, max_length=50)
    ] = Field([0.0], description="The same of `smooth_share`.")

    @classmethod
    def checked(cls, n_stumps: Any, alphas: Any, rule: Any, **averages: Any) -> Grid:
        """Return a grid; `InvalidInput` names the argument that is wrong."""
        try:
            return cls.model_validate({"n_stumps": n_stumps, "alphas": alphas, "rule": rule} | averages)
        except ValidationError as fault:
            first = fault.errors()[0]
            raise InvalidInput(f"{first['loc'][0]}: {first['msg']}", pointer="/" + "/".join(map(str, first["loc"]))) from None

    def points(self, unit: float = 1.0) -> tuple[GridPoint, ...]:
        """Return all pairs, the constant model first.

        Parameters
        ----------
        unit : float
            Of the ridges.
        """
        alphas = sorted({alpha * unit for alpha in self.alphas})
        stumps = sorted(set(self.n_stumps) - {0})
        return (GridPoint(0, alphas[-1]), *(GridPoint(*pair) for pair in product(stumps, alphas)))


class Choice(NamedTuple):
    """Errors of the grid.

    Attributes
    ----------
    point : GridPoint
        The choice.
    error : float
        Its held-out error, the mean over the folds.
    stderr : float
        Standard deviation of the folds' errors over the root of their number; NaN for one fold.
    """

    point: GridPoint
    error: float
    stderr: float


@dataclass(frozen=True, slots=True)
class Selection:
    """Held-out errors of all points of a grid.

    Attributes
    ----------
    metric : str
    points : tuple of G GridPoint
    errors : float64 array of shape (G, F)
        Mean error on the rows held out in each fold.
    weights : float64 array of shape (F,)
        Weight of these rows.
    forests : tuple of F, each a tuple of G tuples of Forest
        What was fitted to the other rows.
    """

    metric: str
    points: tuple[GridPoint, ...]
    errors: Floats
    weights: Floats
    forests: tuple[FoldFits, ...]

    @property
    def means(self) -> Floats:
        """Error of each point over all folds, shape (G,)."""
        return np.asarray(np.average(self.errors, axis=1, weights=self.weights))

    @property
    def stderrs(self) -> Floats:
        """Standard error of each point, shape (G,); NaN for one fold."""
        n_folds = self.errors.shape[1]
        if n_folds == 1:
            return np.full(len(self.points), np.nan)
        return np.asarray(self.errors.std(axis=1, ddof=1) / np.sqrt(n_folds))

    def choose(self, rule: Rule) -> Choice:
        """Return the point that a rule prefers."""
        means, stderrs = self.means, self.stderrs
        best = int(np.argmin(means))
        slack = {"min": 0.0, "parsimony": NEGLIGIBLE * abs(means[best]), "one_se": np.nan_to_num(stderrs[best])}[rule]
        near = np.flatnonzero(means <= means[best] + slack)
        chosen = min(near, key=lambda g: (self.points[g].n_stumps, -self.points[g].alpha))
        return Choice(self.points[chosen], float(means[chosen]), float(stderrs[chosen]))

    def first_fit(self, point: GridPoint) -> tuple[Forest, ...]:
        """Return the forests of a point that were fitted to the rows of the first fold."""
        return self.forests[0][self.points.index(point)]

    def jackknife(self, sample: Sample, point: GridPoint) -> tuple[Spread | None, ...]:
        """Return the spread of each output that the fits of a point to the folds show."""
        number = self.points.index(point)
        fits = [fold[number] for fold in self.forests]
        weights = bin_sums(sample.table, sample.row_weights())
        scores = np.stack(
            [
                [sample.columns.scores(forest.heights(len(sample.columns)), sample.table.n_codes) for forest in forests]
                for forests in fits
            ]
        )
        intercepts = np.array([[forest.intercept for forest in forests] for forests in fits])
        if scores.shape[1] > 1:  # scores of several classes sum to 0
            scores, intercepts = scores - scores.mean(axis=1, keepdims=True), intercepts - intercepts.mean(axis=1, keepdims=True)
        return tuple(
            resampled_spread("jackknife", sample.table.features, weights, scores[:, output], intercepts[:, output])
            for output in range(scores.shape[1])
        )


def select(
    sample: Sample,
    loss: Loss,
    parameters: FitParameters,
    grid: Grid,
    folds: Folds,
    *,
    n_classes: int = 2,
    should_stop: ShouldStop = never,
    report: Callable[[float], None] = lambda fraction: None,
) -> Selection:
    """Fit and score all points of a grid on all folds.

    Parameters
    ----------
    sample : Sample
    loss : Loss
    parameters : FitParameters
        All but the number of stumps and the ridge.
    grid : Grid
    folds : sequence of pairs of int arrays
        Rows to fit and rows to hold out.
    n_classes : int
    should_stop : callable, optional
        Asked now and then. Only folds that are done count, or of the first one the points that are, the constant model in any case.
    report : callable, optional
        Told the share that is done.

    Notes
    -----
    Squared loss: O(N D^2 + F G T p) for F folds. Other losses: the same with a pass over the rows, O(N D), for each fit and fold.
    """
    unit = alpha_unit(sample, loss)
    points = grid.points(unit)
    search = FoldSearch(sample, loss, parameters, points, n_classes, PILOT_ALPHA * unit, should_stop)
    done: list[Fold] = []
    for number, (train, test) in enumerate(folds):
        try:
            fold = search.run(train, test)
        except Interrupted:
            fold = search.constant(train, test)
        if done and len(fold.errors) < len(points):
            break
        done.append(fold)
        report((number + 1) / len(folds))
        if should_stop():
            break
    return Selection(
        row_error(loss, n_classes).metric,
        points[: len(done[0].errors)],
        np.array([fold.errors for fold in done]).T,
        np.array([fold.weight for fold in done]),
        tuple(fold.fits for fold in done),
    )


def alpha_unit(sample: Sample, loss: Loss) -> float:
    """Return the mean curvature at the constant model where the ridges are in units of it, else 1."""
    if not isinstance(loss, PoissonLoss | QuantileLoss):
        return 1.0
    weights, offset = sample.row_weights(), sample.row_offsets()
    scaled = loss.scaled_to(sample.target - offset, weights)
    constant = offset + scaled.best_constant(sample.target, weights, offset)
    return float(np.average(scaled.linearised(sample.target, constant)[1], weights=weights))


def split_rows(cv: Any, target: np.ndarray, loss: Loss, seed: int, kept: np.ndarray | None) -> Folds:
    """Return the rows to fit and to hold out of each fold.

    Parameters
    ----------
    cv : int, splitter or iterable of pairs
        A number of random folds, something with a `split` method, or positions of rows.
    target : array of shape (N,)
        For splitters that keep the shares of classes.
    seed : int
        Of the random folds.
    kept : int array of shape (N,), optional
        Position of each row in the table that the pairs refer to, where rows were left out.

    Raises
    ------
    InvalidInput
        If there are fewer rows than folds, a fold is empty, or a row is not in the table.

    Examples
    --------
    >>> from solvers.gam.losses import SquaredLoss
    >>> [test for _, test in split_rows(2, np.zeros(4), SquaredLoss(), 0, None)]
    [array([0, 3]), array([1, 2])]
    """
    n_rows = len(target)
    if isinstance(cv, int | np.integer):
        if not 2 <= cv <= n_rows:
            raise InvalidInput(f"cv={cv} folds need at least 2 and at most n_samples={n_rows}", pointer="/cv")
        fold = np.random.RandomState(seed).permutation(n_rows) % cv
        return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(cv)]
    if hasattr(cv, "split"):
        splitter = check_cv(cv, target, classifier=isinstance(loss, LogisticLoss))
        pairs = [(np.asarray(train), np.asarray(test)) for train, test in splitter.split(np.zeros(n_rows), target)]
    else:
        pairs = [(_positions(train, kept, n_rows), _positions(test, kept, n_rows)) for train, test in cv]
    if not pairs or any(len(rows) == 0 for pair in pairs for rows in pair):
        raise InvalidInput("cv gives no fold, or one with no rows to fit or to hold out", pointer="/cv")
    return pairs


def _positions(rows: Any, kept: np.ndarray | None, n_rows: int) -> np.ndarray:
    """Return where rows of the table are among those that were kept."""
    wanted = np.asarray(rows)
    if wanted.dtype == bool:
        wanted = np.flatnonzero(wanted)
    table = np.arange(n_rows) if kept is None else kept
    size = int(table[-1]) + 1 if len(table) else 0
    if wanted.dtype.kind not in "iu" or (wanted < 0).any():
        raise InvalidInput("cv: rows are positions that are not negative, or masks", pointer="/cv")
    place = np.full(max(size, int(wanted.max(initial=-1)) + 1), -1)
    place[table] = np.arange(n_rows)
    return np.asarray(place[wanted][place[wanted] >= 0])
