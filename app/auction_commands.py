"""``foresolve auction simulate``: an auction with simulated bidders, followed round by round on the terminal."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from app.auction_display import AuctionDisplay
from app.settings import Settings
from app.solving import option_values, solve_here
from app.terminal import output_console
from solvers.operation import FolderFiles, InvalidInput

if TYPE_CHECKING:
    from auctions.operations.simulations import SimulationResult

auction = typer.Typer(help="Combinatorial auctions with simulated bidders.", no_args_is_help=True)


@auction.callback()
def main() -> None:
    """Combinatorial auctions with simulated bidders."""


@auction.command()
def simulate(
    domain: Annotated[str | None, typer.Option(help="gsvm, lsvm, srvm, mrvm, bvm, mbvm or cats.")] = None,
    instance_seed: Annotated[int | None, typer.Option(help="Makes the bidders of a domain.")] = None,
    instance: Annotated[
        Path | None, typer.Option(help="In place of a domain: a file with an instance as JSON, zip of SATS or CSV of bids.")
    ] = None,
    mechanism: Annotated[str, typer.Option(help="cca, ml_cca, mlca, boca or mlhca.")] = "mlhca",
    preset: Annotated[str, typer.Option(help="default or reference.")] = "default",
    seed: Annotated[int, typer.Option(help="Of the mechanism's own draws.")] = 0,
    query_budget: Annotated[int | None, typer.Option(help="Questions per bidder; default: 100.")] = None,
    parameter: Annotated[
        list[str] | None, typer.Option(help="name=value: a parameter of the mechanism, such as pricing=core.")
    ] = None,
    estimate_only: Annotated[bool, typer.Option("--estimate-only", help="Say how long it would take.")] = False,
    time_limit: Annotated[float | None, typer.Option(help="Seconds.", min=0.001, max=1e9)] = None,
    log: Annotated[Path | None, typer.Option(help="Write the whole log of the auction to this file, as JSON.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write the result document, and nothing else.")] = False,
) -> None:
    """Run an auction with simulated bidders.

    Ctrl-C ends it with what its answers have come to so far; a second one abandons it.
    """
    # Before the solvers are imported: where the service keeps its compiled kernels, they are found compiled.
    os.environ.setdefault("NUMBA_CACHE_DIR", str(Settings().cache_dir))
    from auctions.operations.simulations import SIMULATIONS, SimulationResult

    body: dict[str, Any] = {
        "mechanism": mechanism,
        "preset": preset,
        "seed": seed,
        "parameters": option_values(parameter or ()),
        "estimate_only": estimate_only,
        "options": {} if time_limit is None else {"time_limit": time_limit},
    }
    if query_budget is not None:
        body["query_budget"] = query_budget
    if instance is not None:
        if domain is not None or instance_seed is not None:
            raise InvalidInput("give either --instance or --domain with --instance-seed")
        if not instance.is_file():
            raise InvalidInput(f"there is no file {instance}")
        body["instance"] = {"file": str(instance)}
    elif domain is None or instance_seed is None:
        raise InvalidInput("say whose auction it is: --domain with --instance-seed, or --instance FILE")
    else:
        body |= {"domain": domain, "instance_seed": instance_seed}
    with tempfile.TemporaryDirectory() as folder:
        display = AuctionDisplay(Console(stderr=True), f"{mechanism} on {domain or instance}")
        try:
            document = solve_here(SIMULATIONS, body, FolderFiles(Path(folder)), display)
        finally:
            display.close()
        result = SimulationResult.model_validate_json(document)
        if log is not None and result.files is not None:
            log.write_bytes(Path(result.files.log).read_bytes())
    if as_json:
        sys.stdout.buffer.write(document + b"\n")
        return
    show(result)


def show(result: SimulationResult) -> None:
    """Write what came of an auction to the terminal."""
    console = output_console()
    table = Table(show_header=False, box=None, pad_edge=False)
    for name, value in facts(result).items():
        table.add_row(Text(name, style="bold"), Text(value))
    console.print(table)
    if result.outcome is None or result.payments is None or result.questions is None:
        return
    winners = Table(box=None, pad_edge=False, header_style="bold")
    for head in ("bidder", "bundle", "bid", "pays", "questions"):
        winners.add_column(head, justify="left" if head == "bundle" else "right")
    for bidder, bundle in enumerate(result.outcome.allocation):
        asked = result.questions[bidder]
        winners.add_row(
            str(bidder),
            "".join(map(str, bundle)) if max(bundle, default=0) < 10 else " ".join(map(str, bundle)),
            f"{result.outcome.values[bidder]:.6g}",
            f"{result.payments[bidder]:.6g}",
            f"{asked.demand} + {asked.value}",
        )
    console.print(winners)


def facts(result: SimulationResult) -> dict[str, str]:
    """Return what is said of an auction, line by line."""
    expected = result.estimate
    lines = {"Expected time": f"{expected.seconds:.1f} s ({expected.low:.1f} to {expected.high:.1f})"}
    if result.outcome is None:
        return lines
    if result.stopped_by is not None:
        lines["Ended early by"] = result.stopped_by.replace("_", " ")
    if result.efficiency is not None:
        lines["Efficiency"] = f"{100 * result.efficiency:.4f} % (loss {result.loss_percent:.4g} %)"
    lines["Optimal welfare"] = f"{result.optimal_welfare:.8g} (at most {result.optimal_bound:.8g})"
    lines["Welfare by the bids"] = f"{result.outcome.welfare:.8g}"
    share = "" if result.relative_revenue is None else f" ({100 * result.relative_revenue:.2f} % of the optimal welfare)"
    lines["Revenue"] = f"{result.revenue:.8g}{share}, by {result.pricing}"
    lines["Cleared"] = "yes" if result.cleared else "no"
    lines["Rounds"] = str(len(result.rounds or ()))
    if not result.deterministic:
        lines["Deterministic"] = "no: the clock, or a cancel, ended a search"
    seconds = result.seconds or {}
    lines["Time"] = ", ".join(f"{name} {value:.1f} s" for name, value in seconds.items())
    return lines
