"""Files of a library call's result: they would end with the context of the call, which its caller does not have."""

from __future__ import annotations

from pathlib import Path

from solvers.graphs.certificate import load
from solvers.graphs.result import GraphResult
from solvers.operation import Context, FolderFiles


def with_files_loaded(result: GraphResult, file_name: str, context: Context) -> GraphResult:
    """Return a result with its certificate itself, and with its solution's file, if there is one, in the working folder."""
    result.certificate = load(result.certificate, context)
    if result.solution_file is not None:
        with context.files.open(result.solution_file) as held:
            content = held.read()
        result.solution_file = FolderFiles(Path()).save(content, name=file_name, media_type="text/plain")
    return result
