"""The command line: serve, solve here or by a service, watch jobs, keep API keys.

Results go to standard output, everything said about them to standard error. Exit status: 0 done, 1 the service failed or cannot
be reached, 2 the input is at fault, 130 abandoned.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import orjson
import typer
from pydantic import ValidationError
from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer.core import TyperGroup

from app.auction_commands import auction
from app.catalogue import load_catalogue
from app.client import Client, ProblemError, Resources
from app.gam_commands import gam
from app.service_connection import DEFAULT_URL
from app.settings import Settings
from app.solving import option_values, request_body, solve_here, solve_there
from app.terminal import ProgressDisplay, output_console, progress_line, result_table
from solvers.field_faults import from_validation_error
from solvers.operation import FolderFiles, ForesolveError, InvalidInput, Operation

if TYPE_CHECKING:
    from app.jobs.store import JobStore


class Commands(TyperGroup):
    """Commands whose faults end in a sentence, not in a traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except ForesolveError as error:
            report_fault(error.problem())
            raise typer.Exit(1 if error.status >= 500 else 2) from None
        except ValidationError as error:
            report_fault(from_validation_error(error))
            raise typer.Exit(2) from None
        except OSError as error:
            say(f"error: {error.filename or ''}: {error.strerror or error}".replace(": :", ":"))
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            say("abandoned")
            raise typer.Exit(130) from None


cli = typer.Typer(
    cls=Commands,
    name="foresolve",
    help="Combinatorial algorithms that can use predictions, with a proven bound beside every answer.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
jobs = typer.Typer(help="The jobs of a running service.", no_args_is_help=True)
resources = typer.Typer(help="What operations made and a running service keeps, such as predictors.", no_args_is_help=True)
keys = typer.Typer(help="API keys, kept in the job database of FORESOLVE_DATABASE_URL.", no_args_is_help=True)
cli.add_typer(jobs, name="jobs")
cli.add_typer(resources, name="resources")
cli.add_typer(keys, name="keys")
cli.add_typer(gam, name="gam")
cli.add_typer(auction, name="auction")

Url = Annotated[str, typer.Option(envvar="FORESOLVE_URL", help="Where the service listens.")]
Key = Annotated[str | None, typer.Option(envvar="FORESOLVE_KEY", help="API key.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON.")]


@cli.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on; default: FORESOLVE_HOST or 127.0.0.1.")] = None,
    port: Annotated[
        int | None, typer.Option(help="Port to listen on; default: FORESOLVE_PORT or 8000.", min=0, max=65535)
    ] = None,
    no_worker: Annotated[
        bool, typer.Option("--no-worker", help="Answer requests only; `foresolve worker` runs the jobs.")
    ] = False,
) -> None:
    """Start the service."""
    from app.main import serve as serve_until_stopped
    from app.security import UnsafeConfiguration

    given: dict[str, Any] = {"host": host, "port": port}
    settings = Settings(**{name: value for name, value in given.items() if value is not None})
    try:
        serve_until_stopped(settings, worker=not no_worker)
    except UnsafeConfiguration as error:
        say(f"error: {error}")
        raise typer.Exit(2) from None


@cli.command()
def worker() -> None:
    """Run the jobs of a service whose API runs elsewhere, on the same database and files."""
    from app.worker import run_worker

    run_worker(Settings())


@cli.command()
def solve(
    operation: Annotated[str, typer.Argument(help="What to solve, such as max-cut; `foresolve operations` lists them.")],
    file: Annotated[Path, typer.Argument(help="The instance, or a whole request as JSON; - reads standard input.")],
    file_format: Annotated[str | None, typer.Option("--format", help="Format of the file; default: told by its content.")] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds.", min=0.001, max=1e9)] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same answer.")] = None,
    predictions: Annotated[Path | None, typer.Option(help="JSON file with the predictions of the request.")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(help="name=value: a field of the request or of its options; a value @file is read from there."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write the result document, and nothing else.")] = False,
    output: Annotated[Path | None, typer.Option(help="Write the result document to this file.")] = None,
    url: Annotated[
        str | None, typer.Option(envvar="FORESOLVE_URL", help="Have this service solve it; default: this process.")
    ] = None,
    key: Key = None,
) -> None:
    """Solve the instance in a file.

    Ctrl-C ends the search with the best answer so far; a second one abandons it.
    """
    # Before the solvers are imported: where the service keeps its compiled kernels, they are found compiled.
    os.environ.setdefault("NUMBA_CACHE_DIR", str(Settings().cache_dir))
    chosen = _operation(operation)
    content = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    values = {
        "time_limit": time_limit,
        "seed": seed,
        "predictions": None if predictions is None else _json_file(predictions),
        **option_values(option or ()),
    }
    if url is None:
        files = FolderFiles(Path() if output is None else output.parent)
        body = request_body(chosen, content, lambda: files.hold(content), file_format=file_format, values=values)
        with _progress(chosen, body) as display:
            document = solve_here(chosen, body, files, display)
    else:
        with Client(url, key=key) as client:
            body = request_body(
                chosen, content, lambda: client.upload(content, file.name), file_format=file_format, values=values
            )
            with _progress(chosen, body) as display:
                document = solve_there(client, chosen, body, display)
    if output is not None:
        output.write_bytes(document)
    if as_json:
        write(document)
    else:
        output_console().print(result_table(chosen.result.model_validate_json(document)))


@cli.command()
def operations(
    name: Annotated[str | None, typer.Argument(help="Write this operation's request and result as JSON schemas.")] = None,
) -> None:
    """List what the service can do."""
    if name is not None:
        one = _operation(name)
        schemas = {"request": one.request.model_json_schema(), "result": one.result.model_json_schema(mode="serialization")}
        write(orjson.dumps({"name": one.name, "path": f"/v1/{one.path}", "summary": one.summary, **schemas}))
        return
    catalogue = load_catalogue(Settings().catalogue).values()
    _print_table(["operation", "path", "summary"], [[one.name, f"/v1/{one.path}", one.summary] for one in catalogue])


@cli.command()
def health(
    url: Url = DEFAULT_URL,
    live: Annotated[bool, typer.Option("--live", help="Ask only whether the API answers, not whether jobs are run.")] = False,
    of_worker: Annotated[bool, typer.Option("--worker", help="Ask for this host's worker instead, in the job database.")] = False,
) -> None:
    """Exit with status 0 if the service is ready, else 1."""
    if of_worker:
        from app.worker import lives_here

        if not lives_here(Settings()):
            say("no live worker on this host")
            raise typer.Exit(1)
        write(b'{"status":"ready"}')
        return
    with Client(url, retries=0, timeout=5) as client:
        try:
            write(orjson.dumps(client.health(live=live)))
        except ProblemError as error:
            write(orjson.dumps(error.document))
            raise typer.Exit(1) from None


@jobs.command("list")
def list_jobs(
    status: Annotated[str | None, typer.Option(help="queued, running, succeeded, failed or cancelled.")] = None,
    operation: Annotated[str | None, typer.Option(help="Such as max-cut.")] = None,
    limit: Annotated[int, typer.Option(help="How many at most.", min=1)] = 20,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
    key: Key = None,
) -> None:
    """List jobs, newest first."""
    with Client(url, key=key) as client:
        found = list(client.jobs(limit=limit, status=status, operation=operation))
    if as_json:
        write(orjson.dumps([job.model_dump(mode="json") for job in found]))
    else:
        rows = [
            [
                job.id,
                job.operation,
                job.status,
                str((job.model_extra or {}).get("created_at", "")),
                progress_line(job.progress or {}),
            ]
            for job in found
        ]
        _print_table(["job", "operation", "status", "created", "progress"], rows)


@jobs.command()
def show(
    job_id: str,
    result: Annotated[bool, typer.Option("--result", help="Write the job's result document instead.")] = False,
    url: Url = DEFAULT_URL,
    key: Key = None,
) -> None:
    """Write a job as JSON."""
    with Client(url, key=key) as client:
        job = client.job(job_id)
        write(job.result_json(timeout=0) if result else orjson.dumps(job.status().model_dump(mode="json")))


@jobs.command()
def watch(job_id: str, as_json: AsJson = False, url: Url = DEFAULT_URL, key: Key = None) -> None:
    """Write what happens to a job, a line per event, until it ends."""
    with Client(url, key=key) as client:
        for event in client.job(job_id).events():
            if as_json:
                write(orjson.dumps({"seq": event.seq, "kind": event.kind, "data": event.data}))
            else:
                print(f"{event.seq:6d}  {event.kind:10s} {progress_line(event.data)}".rstrip(), flush=True)


@jobs.command()
def cancel(job_id: str, url: Url = DEFAULT_URL, key: Key = None) -> None:
    """Ask a job to end with the best that it has found."""
    with Client(url, key=key) as client:
        write(orjson.dumps(client.job(job_id).cancel().model_dump(mode="json")))


Kind = Annotated[str, typer.Argument(help="What several of them are called, such as predictors.")]


@resources.command("list")
def list_resources(
    kind: Kind,
    limit: Annotated[int, typer.Option(help="How many at most.", min=1)] = 20,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
    key: Key = None,
) -> None:
    """List resources of one kind, newest first."""
    with Client(url, key=key) as client:
        found = list(_resources(client, kind).list(limit=limit))
    if as_json:
        write(orjson.dumps([one.model_dump(mode="json", exclude={"details"}) for one in found]))
    else:
        rows = [[one.id, str(one.created_at or ""), one.job or "", str(one.size)] for one in found]
        _print_table([kind, "created", "made by", "bytes"], rows)


@resources.command("show")
def show_resource(kind: Kind, resource_id: str, url: Url = DEFAULT_URL, key: Key = None) -> None:
    """Write a resource as JSON."""
    with Client(url, key=key) as client:
        write(orjson.dumps(_resources(client, kind).get(resource_id).model_dump(mode="json")))


@resources.command("delete")
def delete_resource(kind: Kind, resource_id: str, url: Url = DEFAULT_URL, key: Key = None) -> None:
    """Remove a resource."""
    with Client(url, key=key) as client:
        _resources(client, kind).delete(resource_id)


def _resources(client: Client, kind: str) -> Resources:
    if kind not in client.resource_kinds:
        raise InvalidInput(f"there are no resources {kind!r}; the catalogue makes {', '.join(client.resource_kinds) or 'none'}")
    return Resources(client, client.resource_kinds[kind])


@keys.command("create")
def create_key(
    name: Annotated[str, typer.Argument(help="What the key is for.")],
    scope: Annotated[list[str] | None, typer.Option(help="solve, files, read, metrics or admin; repeat for several.")] = None,
    owner: Annotated[str | None, typer.Option(help="Whose jobs and files it opens; default: the key's own.")] = None,
) -> None:
    """Make an API key and write it, once; only its hash is kept."""
    from app.security import SCOPES, new_key

    scopes = scope or ["solve", "files", "read"]
    if unknown := set(scopes) - set(SCOPES):
        raise InvalidInput(f"there is no scope {', '.join(sorted(unknown))}; the scopes are {', '.join(SCOPES)}")
    for given, what in ((name, "name"), (owner, "owner")):
        if given is not None and not (given.strip() and given.isprintable()):
            raise InvalidInput(f"the {what} of a key is one line that is not empty")
    key = new_key()
    _store().add_key(key_id=key.id, owner=key.id if owner is None else owner, name=name, hash=key.hash, scopes=scopes)
    print(key.text)


@keys.command("list")
def list_keys() -> None:
    """List the API keys."""
    rows = [
        [key.id, key.name, key.owner, " ".join(key.scopes), _moment(key.created_at), _moment(key.revoked_at)]
        for key in _store().list_keys()
    ]
    _print_table(["key", "name", "owner", "scopes", "created", "revoked"], rows)


@keys.command("revoke")
def revoke_key(key_id: Annotated[str, typer.Argument(help="As `foresolve keys list` shows it.")]) -> None:
    """Make a key worthless, now."""
    if not _store().revoke_key(key_id):
        raise InvalidInput(f"there is no key {key_id!r} that could be revoked")
    say(f"key {key_id} is revoked")


def say(line: str) -> None:
    """Write a line to standard error."""
    print(line, file=sys.stderr, flush=True)


def write(document: bytes) -> None:
    """Write a document to standard output."""
    sys.stdout.write(document.decode() + "\n")
    sys.stdout.flush()


def report_fault(problem: Mapping[str, Any]) -> None:
    """Say what is wrong, and where."""
    detail = str(problem.get("detail") or problem.get("title"))
    line = f"line {problem.get('line')}: "
    faults = [(str(fault.get("pointer") or "/"), str(fault.get("detail"))) for fault in problem.get("errors") or []]
    say(f"error: {line if 'line' in problem and line not in detail else ''}{detail}")
    if len(faults) > 1:
        for pointer, fault in faults:
            say(f"  {pointer}: {fault}")
    elif faults and faults[0][0] not in detail:
        say(f"  at {faults[0][0]}")


def _operation(name: str) -> Operation[Any, Any]:
    catalogue = load_catalogue(Settings().catalogue)
    if name not in catalogue:
        raise InvalidInput(f"there is no operation {name!r}; the catalogue has {', '.join(catalogue)}")
    return catalogue[name]


def _json_file(path: Path) -> Any:
    try:
        return orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError as error:
        raise InvalidInput(f"{path} is not JSON: {error}") from None


@contextmanager
def _progress(operation: Operation[Any, Any], body: Mapping[str, Any]) -> Iterator[ProgressDisplay]:
    options = body.get("options")
    asked = options.get("time_limit") if isinstance(options, dict) else None
    limit = asked if isinstance(asked, (int, float)) else operation.resources.time_limit
    display = ProgressDisplay(Console(stderr=True), operation.name, limit)
    try:
        yield display
    finally:
        display.close()


def _store() -> JobStore:
    from app.jobs.store import JobStore

    settings = Settings()
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    return JobStore.open(settings.database)


def _moment(seconds: float | None) -> str:
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(" ", "seconds")


def _print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        table.add_column(column, no_wrap=number == 0)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    output_console().print(table)


def main() -> None:
    """Run the command line; an abandoned solver in native code does not keep the process from ending."""
    try:
        cli()
    except SystemExit as end:
        sys.stdout.flush()
        sys.stderr.flush()
        if end.code == 130:
            os._exit(130)
        raise


if __name__ == "__main__":
    main()
