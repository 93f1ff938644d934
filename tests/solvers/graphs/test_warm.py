"""What `warm` prepares is all that a run calls: a kernel that is compiled within a run takes seconds of its deadline."""

from __future__ import annotations

import subprocess
import sys

# In a process of its own, because other tests have called kernels that `warm` may have missed.
RUNS = """
import sys
import numpy as np
from numba.core.dispatcher import Dispatcher

from app.operations import CATALOGUE
from solvers.graphs.graph import Graph
from solvers.graphs.independent_set import INDEPENDENT_SET
from solvers.graphs.max_cut import MAX_CUT
from solvers.graphs.predictions import sample_edge_predictions
from solvers.graphs.incidence_predictions import sample_incidence_predictions
from solvers.graphs.set_cover import SET_COVER
from solvers.graphs.set_system import SetSystem
from solvers.graphs.vertex_cover import VERTEX_COVER
from solvers.operation import Context


def kernels():
    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("solvers."):
            for kernel in vars(module).values():
                if isinstance(kernel, Dispatcher):
                    found[f"{kernel.__module__}.{kernel.__name__}"] = set(kernel.signatures)
    return found


for operation in CATALOGUE:
    if operation.warm is not None:
        operation.warm()
before = kernels()

rng = np.random.default_rng(3)
edges = np.unique(np.sort(rng.integers(0, 3000, (12_000, 2)), axis=1), axis=0)
edges = edges[edges[:, 0] != edges[:, 1]]
edge_bits = sample_edge_predictions(edges, rng.integers(0, 2, 3000), 0.2, seed=0)
weights = {"edge_weights": rng.integers(1, 9, len(edges)), "vertex_weights": rng.integers(1, 9, 3000)}
for operation in (MAX_CUT, VERTEX_COVER, INDEPENDENT_SET):
    for numbers in ({}, weights):
        for bits in (None, edge_bits):
            options = {"max_iterations": 100 if operation is MAX_CUT else 60_000, "method": "local_search"}
            request = operation.request.of(Graph(3000, edges, **numbers), bits, options=options)
            operation.run(request, Context())
sets = [rng.choice(3000, size=12, replace=False).tolist() for _ in range(1500)]
system = SetSystem([*sets, list(range(3000))], costs=[*rng.integers(1, 9, 1500).tolist(), 500])
for bits in (None, sample_incidence_predictions(system, rng.integers(0, 2, 1501), 0.2, seed=0)):
    SET_COVER.run(SET_COVER.request.of(system, bits, options={"max_iterations": 20_000, "method": "local_search"}), Context())

for name, signatures in sorted(kernels().items()):
    for signature in signatures - before.get(name, set()):
        print(name, signature)
"""


def test_a_run_compiles_nothing_that_warm_has_not_compiled() -> None:
    done = subprocess.run([sys.executable, "-c", RUNS], capture_output=True, text=True, check=True)
    assert done.stdout == ""
