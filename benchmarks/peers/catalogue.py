"""All solvers of all problems."""

from __future__ import annotations

from benchmarks.instances import INDEPENDENT_SET, MAX_CUT, SET_COVER, VERTEX_COVER
from benchmarks.peers import independent_set, max_cut, set_cover, vertex_cover
from benchmarks.peers.solver import Solver

OURS = "foresolve"

SOLVERS: dict[str, dict[str, Solver]] = {
    MAX_CUT: max_cut.SOLVERS,
    VERTEX_COVER: vertex_cover.SOLVERS,
    INDEPENDENT_SET: independent_set.SOLVERS,
    SET_COVER: set_cover.SOLVERS,
}


def compared(problem: str) -> list[tuple[str, str]]:
    """Return who is compared on a problem: the problem that a solver is asked about, and its name.

    What an independent set leaves over is a cover, so those who were asked for sets alone count here without another run.
    """
    own = [(problem, name) for name in _without_fallbacks(SOLVERS[problem])]
    if problem != VERTEX_COVER:
        return own
    others = _without_fallbacks(SOLVERS[INDEPENDENT_SET])
    return own + [(INDEPENDENT_SET, name) for name in others if name not in SOLVERS[VERTEX_COVER]]


def _without_fallbacks(solvers: dict[str, Solver]) -> list[str]:
    stand_ins = {solver.fallback for solver in solvers.values()}
    return [name for name in solvers if name not in stand_ins]
