"""Operations that behave and misbehave in every way an executor must bear."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from solvers.operation import Context, InvalidInput, Operation, Resources


class Options(BaseModel):
    time_limit: float | None = Field(None, gt=0)
    seed: int | None = None


class Request(BaseModel):
    """What any of the operations may be told."""

    value: Any = None
    seconds: float = 30
    file: str | None = None
    journal: str | None = None
    count: int = 1
    options: Options = Options()


class Result(BaseModel):
    value: Any = None


def echo(request: Request, context: Context) -> Result:
    return Result(value=request.value)


def draw(request: Request, context: Context) -> Result:
    return Result(value=float(context.rng.random()))


def describe(request: Request, context: Context) -> Result:
    threads = {name: os.environ.get(name) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")}
    return Result(value={"pid": os.getpid(), "group": os.getpgrp(), "remaining": context.remaining, "threads": threads})


def wait(request: Request, context: Context) -> Result:
    """Report an incumbent that grows, until stopped."""
    count = 0
    while not context.stop and context.elapsed < request.seconds:
        count += 1
        context.report(value=count, snapshot=lambda: Result(value="incumbent"))
        time.sleep(0.01)
    return Result(value="stopped")


def report(request: Request, context: Context) -> Result:
    for index in range(request.count):
        context.report(fraction=index / request.count, index=index)
    return Result(value=request.count)


def fall_silent(request: Request, context: Context) -> Result:
    context.report(index=0)
    context.report(index=1)
    time.sleep(request.seconds)
    return Result(value="ended")


def report_nonsense(request: Request, context: Context) -> Result:
    context.report(thing=object(), big=1 << 80, nan=float("nan"), deep={(1, 2): {3}}, text="\ud800")
    return Result(value="survived")


def fail_to_snapshot(request: Request, context: Context) -> Result:
    context.report(snapshot=lambda: 1 / 0)
    return Result(value="survived")


def hang(request: Request, context: Context) -> Result:
    """Sit in native code that holds the interpreter's lock, after one incumbent."""
    _write(request.journal, f"{os.getpid()}\n")
    context.report(value=1, snapshot=lambda: Result(value="incumbent"))
    ctypes.PyDLL(None).usleep(int(request.seconds * 1e6))
    return Result(value="ended")


def stall(request: Request, context: Context) -> Result:
    """Sleep without ever looking whether to stop."""
    _write(request.journal, f"{os.getpid()}\n")
    time.sleep(request.seconds)
    return Result(value="ended")


def allocate(request: Request, context: Context) -> Result:
    context.report(value=1, snapshot=lambda: Result(value="incumbent"))
    held = []
    while True:
        held.append(bytearray(b"x") * (16 << 20))
        time.sleep(0.005)


def allocate_in_child(request: Request, context: Context) -> Result:
    code = "import time\nheld = []\nwhile True:\n    held.append(bytearray(b'x') * (16 << 20))\n    time.sleep(0.005)"
    subprocess.run([sys.executable, "-c", code], check=True)
    return Result(value="ended")


def reserve(request: Request, context: Context) -> Result:
    """Ask for more address space than any job gets."""
    return Result(value=len(bytearray(1 << 45)))


def leave(request: Request, context: Context) -> Result:
    _write(request.journal, "left\n")
    os._exit(0)


def crash(request: Request, context: Context) -> Result:
    _write(request.journal, "crashed\n")
    os.kill(os.getpid(), signal.SIGKILL)
    return Result(value="survived")


def crash_once(request: Request, context: Context) -> Result:
    if context.resume is None:
        context.checkpoint(b"half way")
        os._exit(3)
    return Result(value=context.resume.decode())


def refuse(request: Request, context: Context) -> Result:
    raise InvalidInput("edge 17 joins vertex 5 to itself", pointer="/edges/17", line=3)


def err(request: Request, context: Context) -> Result:
    raise RuntimeError("a secret path: /root/secret")


def leave_by_exception(request: Request, context: Context) -> Result:
    sys.exit(0)


def nan(request: Request, context: Context) -> Result:
    return Result(value=[float("nan"), float("inf"), 1.5])


def lengthy(request: Request, context: Context) -> Result:
    return Result(value="x" * request.count)


def read(request: Request, context: Context) -> Result:
    with context.files.open(str(request.file)) as stream:
        return Result(value=stream.read().decode())


def write(request: Request, context: Context) -> Result:
    return Result(value=context.files.save(b"content", name="note.txt", media_type="text/plain"))


def squares(request: Request, context: Context) -> Result:
    def square(item: int) -> int:
        if item == 2:
            raise InvalidInput("two is odd")
        return item * item

    return Result(value=context.map(square, [1, 2, 3]))


def breed(request: Request, context: Context) -> Result:
    """Start a process of its own session, and one of this session, and note both before hanging."""
    own = subprocess.Popen(["sleep", "1000"])
    stray = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    _write(request.journal, f"{os.getpid()}\n{own.pid}\n{stray.pid}\n")
    context.report(value=1)
    time.sleep(request.seconds)
    return Result(value="ended")


def journal(request: Request, context: Context) -> Result:
    """Note time and again that this run lives, so that a test sees whether two runs of a job overlapped."""

    def note() -> None:
        _write(request.journal, f"{request.value} {os.getpid()} {os.getppid()} {time.monotonic()}\n")

    note()
    while context.elapsed < request.seconds:
        time.sleep(0.005)
        note()
    return Result(value=request.value)


def resumable(request: Request, context: Context) -> Result:
    """Leave a checkpoint and wait; a later attempt returns what it finds."""
    if context.resume is not None:
        return Result(value=context.resume.decode())
    context.checkpoint(b"half way")
    while not context.stop:
        time.sleep(0.01)
    return Result(value="stopped")


def _write(path: str | None, text: str) -> None:
    if path is not None:
        descriptor = os.open(Path(path), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(descriptor, text.encode())
        os.close(descriptor)


_LIGHT = {"echo"}

CATALOGUE = tuple(
    Operation(
        name=function.__name__.replace("_", "-"),
        path=f"tests/{function.__name__.replace('_', '-')}",
        request=Request,
        result=Result,
        run=function,
        summary=function.__name__,
        resources=Resources(light=function.__name__ in _LIGHT),
        volatile=(),
    )
    for function in (
        echo,
        draw,
        describe,
        wait,
        report,
        fall_silent,
        report_nonsense,
        fail_to_snapshot,
        hang,
        stall,
        allocate,
        allocate_in_child,
        reserve,
        leave,
        crash,
        crash_once,
        refuse,
        err,
        leave_by_exception,
        nan,
        lengthy,
        read,
        write,
        squares,
        breed,
        journal,
        resumable,
    )
)
