"""Run a small hybrid auction through the service and follow it round by round.

Starts a service of its own on a free port of this machine, with a temporary folder for its data, and stops it at the end.
"""

from __future__ import annotations

from app.client import Client
from app.own_service import own_service

AUCTION = {
    "domain": "srvm",
    "instance_seed": 1,  # makes the bidders
    "seed": 0,  # drives the mechanism's own draws
    "mechanism": "mlhca",
    "query_budget": 10,
}


def main() -> None:
    print("Starting the service (the first start compiles the solvers) ...")
    with own_service() as url, Client(url) as client:
        job = client.auctions_simulations.submit(AUCTION)
        for event in job.events():
            if event.kind == "progress" and event.data.get("efficiency") is not None:
                print(f"round {event.data['round']} ({event.data['phase']}): efficiency {100 * event.data['efficiency']:.2f} %")
        result = job.result()
    print(
        f"efficiency {100 * result.efficiency:.2f} %, revenue {result.revenue:.0f}, payments {[round(p) for p in result.payments]}"
    )


if __name__ == "__main__":
    main()
