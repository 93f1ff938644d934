"""Value domains: bidders for combinatorial auctions, simulated or given, with exact demand and exact efficient allocations.

Examples
--------
>>> from auctions.domains import gsvm
>>> instance = gsvm(seed=1)
>>> instance.demand(0, instance.capacities * 15.0)[0].bundle.nonzero()[0].tolist()
[0, 2, 12]
"""

from auctions.domains.gsvm import Gsvm, gsvm
from auctions.domains.instance import Demand, Instance, Payments
from auctions.domains.lsvm import Lsvm, lsvm
from auctions.domains.mrvm import Mrvm
from auctions.domains.mrvm_draw import mrvm
from auctions.domains.srvm import Srvm, srvm

__all__ = ["Demand", "Gsvm", "Instance", "Lsvm", "Mrvm", "Payments", "Srvm", "gsvm", "lsvm", "mrvm", "srvm"]
