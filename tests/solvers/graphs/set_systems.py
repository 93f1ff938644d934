"""Set systems that tests draw, those of the public collections, and their optima by other means."""

import itertools
import json
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from solvers.graphs.formats.set_cover import read_set_system
from solvers.graphs.incidence import build_incidence
from solvers.graphs.set_system import SetSystem

DATA = Path(__file__).parents[2] / "data" / "graphs"

SMALL = {case["id"]: case for case in json.loads((DATA / "small_setcover.json").read_text())}
PREDICTED = {case["id"]: case for case in json.loads((DATA / "setcover_predictions.json").read_text())}

# Proven by two solvers but those of scpclr10 and scpcyc06, which are the best known.
BEST_KNOWN = {
    "scp41": 429, "scp51": 253, "scp61": 138, "scpa1": 253, "scpe1": 5, "scpclr10": 25, "scpcyc06": 60, "stn27": 18, "stn45": 30,
}  # fmt: skip


def shipped(name):
    """Return a set system of the OR-Library or a Steiner triple system."""
    return read_set_system((DATA / "setcover" / f"{name}.txt").read_bytes())[0]


def system_of(case):
    """Return the set system of a case of the vectors."""
    return SetSystem(case["sets"], case["costs"], case["num_elements"])


def incidence_of(system):
    """Return the incidence of a system whose costs are integers."""
    return build_incidence(system.num_elements, system.set_ptr, system.elements, system.costs)


def rows_of(incidence):
    """Return the elements of every set."""
    return [set(row.tolist()) for row in np.split(incidence.elements, incidence.set_ptr[1:-1])] if incidence.num_sets else []


def least_cost(incidence):
    """Return the cost of the cheapest cover, from all choices of sets."""
    rows, costs = rows_of(incidence), incidence.costs.tolist()
    every = set(range(incidence.num_elements))
    best = None
    for choice in itertools.product([False, True], repeat=len(rows)):
        if set().union(*itertools.compress(rows, choice)) == every:
            cost = sum(itertools.compress(costs, choice))
            best = cost if best is None else min(best, cost)
    return best


def drawn(seed, num_sets=30, num_elements=40, size=6, most=9):
    """Return a coverable system of that many sets, and one more that contains everything and costs a lot."""
    rng = np.random.default_rng(seed)
    sets = [rng.choice(num_elements, size=min(size, num_elements), replace=False).tolist() for _ in range(num_sets)]
    costs = rng.integers(1, most + 1, num_sets).tolist()
    return SetSystem([*sets, list(range(num_elements))], costs=[*costs, most * num_elements])


@st.composite
def set_systems(draw, max_sets=8, max_elements=7, least=0, most=9):
    """Draw a coverable system with integer costs; sets may be empty, equal or dominated."""
    num_elements = draw(st.integers(0, max_elements))
    elements = st.sets(st.integers(0, num_elements - 1)) if num_elements else st.just(set())
    sets = draw(st.lists(elements, max_size=max_sets - 1))
    missing = set(range(num_elements)).difference(*sets)
    sets.append(missing)
    costs = draw(st.lists(st.integers(least, most), min_size=len(sets), max_size=len(sets)))
    return SetSystem([sorted(one) for one in sets], costs=costs, num_elements=num_elements)


def members_of(incidence, order):
    """Return the members that a list of sets means."""
    members = np.zeros(incidence.num_sets, bool)
    members[np.asarray(order, dtype=np.int64)] = True
    return members
