"""One solve for the command line: the request from a file and options, run in this process or by a service."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from app.client import Client, ProblemError
from app.interruptible import run_interruptibly
from app.request_body import with_values
from app.terminal import Display
from solvers.field_faults import from_validation_error
from solvers.operation import Context, Files, InvalidInput, Operation

ENDING = "ending with the best so far; press Ctrl-C again to abandon it"


def request_body(
    operation: Operation[Any, Any],
    content: bytes,
    save: Callable[[], str],
    *,
    file_format: str | None,
    values: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the request that a file and options on the command line stand for.

    Parameters
    ----------
    operation : Operation
    content : bytes
        The file: a request body if it is a JSON object of the request's fields only, else what the operation's `from_file` takes.
    save : callable
        Keeps the file where the operation will look for it, and returns its id.
    file_format : str or None
        Name of the file's format, written beside its id.
    values : mapping
        Fields of the request or of its options.

    Raises
    ------
    InvalidInput
        If the operation reads no files of its own and this one is no request body.
    """
    body = None if file_format else _written_body(operation, content)
    if body is None:
        if operation.from_file is None:
            raise InvalidInput(f"{operation.name} takes a JSON file with the fields {', '.join(operation.request.model_fields)}")
        file_id = save()
        body = operation.from_file(file_id)
        if file_format:
            body = _with_format(body, file_id, file_format)
    return with_values(operation, body, values)


def option_values(assignments: Sequence[str]) -> dict[str, Any]:
    """Return the values of ``--option name=value``: JSON where it is JSON, the content of a file after ``@``, else text.

    Examples
    --------
    >>> option_values(["threshold=3", "method=paper", "certificate=false"])
    {'threshold': 3, 'method': 'paper', 'certificate': False}
    """
    values: dict[str, Any] = {}
    for assignment in assignments:
        name, separator, value = assignment.partition("=")
        if not separator or not name:
            raise InvalidInput(f"--option takes name=value, not {assignment!r}")
        text = Path(value[1:]).read_bytes() if value.startswith("@") else value.encode()
        try:
            values[name.replace("-", "_")] = orjson.loads(text)
        except orjson.JSONDecodeError:
            try:
                values[name.replace("-", "_")] = text.decode()
            except UnicodeDecodeError:
                raise InvalidInput(f"--option {name}: {value[1:]} is not a text") from None
    return values


def validated(operation: Operation[Any, Any], body: Mapping[str, Any]) -> Any:
    """Return a body as the operation's request model; :class:`ProblemError` names every field that is wrong."""
    try:
        return operation.request.model_validate_json(orjson.dumps(body))
    except ValidationError as error:
        raise ProblemError(from_validation_error(error, body)) from None


def solve_here(operation: Operation[Any, Any], body: Mapping[str, Any], files: Files, display: Display) -> bytes:
    """Run the operation in this process; the first Ctrl-C returns the best so far, and ends it at once where there is none yet."""
    request = validated(operation, body)
    cancelled = threading.Event()

    def run() -> Any:
        context = Context(
            time_limit=operation.time_limit(request),
            seed=operation.seed(request),
            files=files,
            on_report=lambda members, snapshot: display.report(members),
            is_cancelled=cancelled.is_set,
        )
        return operation.run(request, context)

    def end() -> None:
        cancelled.set()
        display.say(ENDING)

    if operation.warm is not None:
        run_interruptibly(operation.warm, ask_to_end=_abandon, tick=display.tick)
    result = run_interruptibly(run, ask_to_end=end, tick=display.tick)
    document: str = result.model_dump_json()
    return document.encode()


def solve_there(client: Client, operation: Operation[Any, Any], body: Mapping[str, Any], display: Display) -> bytes:
    """Have the service run the operation; the first Ctrl-C cancels the job and returns the best that it had found."""
    job = client.submit(operation, body)
    display.say(f"job {job.id}")

    def follow() -> bytes:
        for event in job.events():
            if event.kind == "progress":
                display.report(event.data)
        return job.result_json()

    def end() -> None:
        display.say(ENDING)
        job.cancel()

    return run_interruptibly(follow, ask_to_end=end, tick=display.tick)


def _abandon() -> None:
    raise KeyboardInterrupt


def _written_body(operation: Operation[Any, Any], content: bytes) -> dict[str, Any] | None:
    """Return the content as a request body, if it is one."""
    if not content.lstrip().startswith(b"{"):
        return None
    try:
        body = orjson.loads(content)
    except orjson.JSONDecodeError:
        return None
    return body if body.keys() <= operation.request.model_fields.keys() else None


def _with_format(body: Any, file_id: str, file_format: str) -> Any:
    """Return the body with the format's name beside every mention of the file."""
    if not isinstance(body, dict):
        return body
    filled = {name: _with_format(value, file_id, file_format) for name, value in body.items()}
    return {**filled, "format": file_format} if body.get("file") == file_id else filled
