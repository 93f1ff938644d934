"""The catalogue: every operation of the service, one line each, in reading order.

Endpoints, the OpenAPI page and its examples, job kinds, commands and client methods all come from here.
"""

from auctions.operations.efficient_allocation import EFFICIENCY, EFFICIENT_ALLOCATION
from auctions.operations.experiments import EXPERIMENTS
from auctions.operations.instance_questions import INSTANCE_DEMAND, INSTANCE_VALUES
from auctions.operations.instances import INSTANCES
from auctions.operations.mvnn_demand import MVNN_DEMAND
from auctions.operations.mvnn_fit import MVNN_FIT
from auctions.operations.payments import CORE_PAYMENTS, VCG
from auctions.operations.rp_bounds import RP_BOUNDS
from auctions.operations.simulations import SIMULATIONS
from auctions.operations.wdp import WDP
from solvers.gam.operations.certificate import GAM_CERTIFICATE
from solvers.gam.operations.compare import GAM_COMPARE
from solvers.gam.operations.compress import GAM_COMPRESS
from solvers.gam.operations.edit import GAM_EDIT, GAM_HISTORY, GAM_UNDO
from solvers.gam.operations.export import GAM_EXPORT
from solvers.gam.operations.fit import GAM_FIT
from solvers.gam.operations.predict import GAM_PREDICT
from solvers.graphs.batch import GRAPHS_BATCH
from solvers.graphs.bounds import GRAPHS_BOUNDS
from solvers.graphs.independent_set import INDEPENDENT_SET
from solvers.graphs.max_cut import MAX_CUT
from solvers.graphs.parse import GRAPHS_PARSE
from solvers.graphs.predictors.epsilon_of_bits import GRAPHS_PREDICTIONS_ESTIMATE_EPSILON
from solvers.graphs.predictors.fit import GRAPHS_PREDICTIONS_FIT
from solvers.graphs.predictors.predict import GRAPHS_PREDICTIONS_PREDICT
from solvers.graphs.set_cover import SET_COVER
from solvers.graphs.verification import GRAPHS_VERIFY
from solvers.graphs.vertex_cover import VERTEX_COVER
from solvers.operation import Operation

CATALOGUE: tuple[Operation, ...] = (
    MAX_CUT,
    VERTEX_COVER,
    INDEPENDENT_SET,
    SET_COVER,
    GRAPHS_BATCH,
    GRAPHS_PARSE,
    GRAPHS_BOUNDS,
    GRAPHS_VERIFY,
    GRAPHS_PREDICTIONS_FIT,
    GRAPHS_PREDICTIONS_PREDICT,
    GRAPHS_PREDICTIONS_ESTIMATE_EPSILON,
    INSTANCES,
    INSTANCE_VALUES,
    INSTANCE_DEMAND,
    EFFICIENT_ALLOCATION,
    EFFICIENCY,
    MVNN_FIT,
    MVNN_DEMAND,
    WDP,
    VCG,
    CORE_PAYMENTS,
    RP_BOUNDS,
    SIMULATIONS,
    EXPERIMENTS,
    GAM_FIT,
    GAM_PREDICT,
    GAM_EDIT,
    GAM_UNDO,
    GAM_HISTORY,
    GAM_COMPRESS,
    GAM_EXPORT,
    GAM_COMPARE,
    GAM_CERTIFICATE,
)
