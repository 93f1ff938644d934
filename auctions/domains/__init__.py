"""Value domains: bidders for combinatorial auctions, simulated or given, with exact demand and exact efficient allocations.

Examples
--------
>>> from auctions.domains import gsvm
>>> instance = gsvm(seed=1)
>>> instance.demand(0, instance.capacities * 15.0)[0].bundle.nonzero()[0].tolist()
[0, 2, 12, 13]
"""

from auctions.domains.base_and_synergy import Bvm, Mbvm, bvm, mbvm
from auctions.domains.cats import Cats, cats_regions
from auctions.domains.drawing import draw_instance
from auctions.domains.gsvm import Gsvm, gsvm
from auctions.domains.instance import Demand, Instance, Payments
from auctions.domains.lagrangian import PricedBound, lagrangian_bound
from auctions.domains.lsvm import Lsvm, lsvm
from auctions.domains.mrvm import Mrvm
from auctions.domains.mrvm_draw import mrvm
from auctions.domains.reading import read_instance, read_instance_file
from auctions.domains.srvm import Srvm, srvm
from auctions.domains.valuations import Valuations

__all__ = [
    "Bvm",
    "Cats",
    "Demand",
    "Gsvm",
    "Instance",
    "Lsvm",
    "Mbvm",
    "Mrvm",
    "Payments",
    "PricedBound",
    "Srvm",
    "Valuations",
    "bvm",
    "cats_regions",
    "draw_instance",
    "gsvm",
    "lagrangian_bound",
    "lsvm",
    "mbvm",
    "mrvm",
    "read_instance",
    "read_instance_file",
    "srvm",
]
