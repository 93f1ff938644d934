"""Generalized additive models as forests of decision stumps: fitted, read, edited and exported.

M. Gabidolla and M. Á. Carreira-Perpiñán, "Generalized additive models via direct optimization of regularized decision stump
forests" (ICML 2025). The model is F(x) = b + sum_d f_d(x_d) with step functions f_d; an :class:`AdditiveModel` holds one.
"""

from solvers.gam.additive_model import AdditiveModel, Offset
from solvers.gam.shape_functions import CodedColumn, ShapeFunction

__all__ = ["AdditiveModel", "CodedColumn", "Offset", "ShapeFunction"]
