"""Writing what arrives to the file store without holding it in memory or blocking the event loop."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.concurrency import run_in_threadpool

from app.files import FileStore, FileWriter


@asynccontextmanager
async def new_file(files: FileStore, owner: str) -> AsyncIterator[FileWriter]:
    """Write a new file of an owner: it exists once the block ends, and never if the block raises."""
    writing = files.create(owner)
    writer = await run_in_threadpool(writing.__enter__)
    try:
        yield writer
    except BaseException as error:
        # Not in a thread: a request that was cancelled could not wait for it.
        writing.__exit__(type(error), error, error.__traceback__)
        raise
    await run_in_threadpool(writing.__exit__, None, None, None)
