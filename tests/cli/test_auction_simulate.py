"""``foresolve auction simulate``: lines where it is no terminal, a live table where it is, one document on request."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from app.auction_display import AuctionDisplay
from app.cli import cli

CLOCK = ["auction", "simulate", "--mechanism", "cca", "--query-budget", "4", "--preset", "reference"]
GSVM = ["--domain", "gsvm", "--instance-seed", "1"]


def test_every_round_is_a_line_and_the_outcome_a_table():
    ended = CliRunner().invoke(cli, [*CLOCK, *GSVM])
    assert ended.exit_code == 0, ended.output
    assert [line.split()[1] for line in ended.stderr.splitlines() if line.startswith("round ")] == ["1", "2", "3", "4"]
    assert "Efficiency" in ended.stdout
    assert "4 + 0" in ended.stdout


def test_the_document_is_all_that_is_written_on_request(tmp_path: Path):
    log = tmp_path / "log.json"
    ended = CliRunner().invoke(cli, [*CLOCK, *GSVM, "--json", "--log", str(log)])
    document = json.loads(ended.stdout)
    assert (len(document["rounds"]), document["instance_seed"]) == (4, 1)
    assert json.loads(log.read_text())


def test_a_file_of_bids_is_an_instance(tmp_path: Path):
    bids = tmp_path / "bids.csv"
    bids.write_text("bidder,value,A,B\nann,5,1,0\nbob,7,1,1\n")
    ended = CliRunner().invoke(cli, [*CLOCK, "--instance", str(bids), "--json"])
    assert len(json.loads(ended.stdout)["payments"]) == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--domain with --instance-seed"),
        (["--domain", "gsvm"], "--domain with --instance-seed"),
        (["--domain", "none", "--instance-seed", "1"], "there is no domain 'none'"),
        (["--instance", "/no/such/file"], "there is no file"),
        ([*GSVM, "--instance", "/no/such/file"], "give either"),
        ([*GSVM, "--preset", "mine"], "/preset"),
        ([*GSVM, "--parameter", "increment"], "name=value"),
    ],
)
def test_what_cannot_be_run_is_said_in_a_sentence(arguments: list[str], said: str):
    ended = CliRunner().invoke(cli, [*CLOCK, *arguments])
    assert ended.exit_code == 2
    assert said in ended.stderr
    assert "Traceback" not in ended.output


def test_on_a_terminal_the_last_rounds_stand_in_a_table():
    screen = io.StringIO()
    display = AuctionDisplay(Console(file=screen, force_terminal=True, width=100), "cca on gsvm")
    display.report({"fraction": 0.0, "estimate": 12.0})
    for number in range(1, 31):
        display.report({"round": number, "phase": "cca", "prices": [1.5], "over_demand": 2, "efficiency": 0.5, "fraction": 0.5})
    display.tick()
    shown = screen.getvalue()
    display.close()
    assert "of about 12 s" in shown
    assert "50.00 %" in shown
    last = shown.rpartition("round")[2]
    assert " 30 " in last
    assert " 15 " not in last
