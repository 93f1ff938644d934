"""Stump-forest generalised additive models: accurate models that fit on a page, with a proof of how well they were trained.

The model is F(x) = b + sum over features d of f_d(x_d) with piecewise constant shape functions f_d. They come from a forest of a fixed
number T of decision stumps (one split, two leaves each), fitted by minimising one explicit objective (loss plus regularisation) over all
splits and leaf values: no boosting, no bagging. After M. Gabidolla and M. Á. Carreira-Perpiñán, "Generalized additive models via direct
optimization of regularized decision stump forests" (ICML 2025).

From rows to a forest (:mod:`~solvers.gam.training` is the way in):

- :mod:`~solvers.gam.binning` sorts every feature into bins, :mod:`~solvers.gam.candidate_columns` lists the steps a forest may take;
- :mod:`~solvers.gam.gram` sums the rows up in the inner products of these steps; whatever follows costs nothing per row. Where they do
  not fit in memory, :mod:`~solvers.gam.row_engine` computes them as they are asked for. :mod:`~solvers.gam.moments` keeps the sums of
  each fold;
- :mod:`~solvers.gam.forest` alternates :mod:`exact moves of single stumps <solvers.gam.stump_updates>` and
  :mod:`joint fits of all leaves <solvers.gam.joint_fit>`; :mod:`~solvers.gam.restarts` tries other starts, among them the convex
  :mod:`~solvers.gam.relaxation`, from which :mod:`~solvers.gam.lower_bound` proves how far from the best forest the result can be
  (:mod:`~solvers.gam.logistic_bound` for classes);
- :mod:`~solvers.gam.losses` and :mod:`~solvers.gam.reweighted_fit` reduce every other loss to weighted least squares, with
  :mod:`Newton steps on the leaves <solvers.gam.leaf_newton>` to fall back on; :mod:`~solvers.gam.multinomial_fit` goes class by class;
- :mod:`~solvers.gam.level_subsets` splits categorical features into any two sets of levels.

:mod:`~solvers.gam.estimators` has all of it as scikit-learn estimators: :mod:`~solvers.gam.feature_columns` and
:mod:`~solvers.gam.targets` read rows, :mod:`~solvers.gam.additive_fit` makes a model of a fit or of the average of several,
:mod:`~solvers.gam.bands` says how far it may be off, :mod:`~solvers.gam.compression` drops steps that hardly matter.
:mod:`~solvers.gam.cross_validated` chooses the number of stumps and the ridge by :mod:`~solvers.gam.selection`, and
:mod:`~solvers.gam.fold_search` fits a whole grid to each fold.

:class:`~solvers.gam.additive_model.AdditiveModel` holds a fitted model and knows nothing of how it was fitted.
"""

from solvers.gam.additive_model import AdditiveModel, Offset
from solvers.gam.cross_validated import StumpForestClassifierCV, StumpForestRegressorCV
from solvers.gam.estimators import StumpForestClassifier, StumpForestRegressor
from solvers.gam.shape_functions import CodedColumn, ShapeFunction

__all__ = [
    "AdditiveModel",
    "CodedColumn",
    "Offset",
    "ShapeFunction",
    "StumpForestClassifier",
    "StumpForestClassifierCV",
    "StumpForestRegressor",
    "StumpForestRegressorCV",
]
