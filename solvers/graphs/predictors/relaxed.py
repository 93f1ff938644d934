"""The relaxation itself as a model: it learns nothing, so that any instance can be predicted, and past ones tell how good it is."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from solvers.graphs.predictors.forecast import Forecast
from solvers.graphs.predictors.subjects import Subject

LEAST_DOUBT = 0.05
"""How likely the other side always stays: an integral value is a hint, and no proof but for covers, whose solver draws it itself."""


class RelaxationModel(BaseModel):
    """Probabilities from the problem's convex relaxation; see :mod:`solvers.graphs.predictors.relaxations`."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["relaxation"] = "relaxation"

    def forecast(self, subject: Subject) -> Forecast:
        """Return the relaxation's values as probabilities; a vote says what its vertex or set has."""
        probabilities = subject.relaxation.clip(LEAST_DOUBT, 1 - LEAST_DOUBT)
        return Forecast(probabilities, probabilities[subject.item_of])
