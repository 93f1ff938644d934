"""Work that the first Ctrl-C asks to end with what it has, and the second abandons.

The work runs in a thread of its own, so that the terminal answers at once even while a solver sits in native code.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TypeVar

T = TypeVar("T")

TICK_SECONDS = 0.1


def run_interruptibly(work: Callable[[], T], *, ask_to_end: Callable[[], None], tick: Callable[[], None]) -> T:
    """Return what `work` returns, or raise what it raises.

    Parameters
    ----------
    work : callable
        Runs in a thread.
    ask_to_end : callable
        Called once, in the calling thread, at the first interrupt.
    tick : callable
        Called about ten times a second, in the calling thread.

    Raises
    ------
    KeyboardInterrupt
        At the second interrupt; the thread is left to die with the process.

    Examples
    --------
    >>> run_interruptibly(lambda: 6 * 7, ask_to_end=lambda: None, tick=lambda: None)
    42
    """
    results: list[T] = []
    errors: list[BaseException] = []
    ended = threading.Event()

    def target() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)
        finally:
            ended.set()

    thread = threading.Thread(target=target, name="foresolve-work", daemon=True)
    with _interrupts() as interrupted:
        thread.start()
        asked = False
        while not ended.wait(TICK_SECONDS):
            tick()
            if interrupted.is_set() and not asked:
                asked = True
                ask_to_end()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


@contextlib.contextmanager
def _interrupts() -> Iterator[threading.Event]:
    """Catch SIGINT and SIGTERM: the first sets the event, the second raises KeyboardInterrupt."""
    interrupted = threading.Event()

    def catch(number: int, frame: FrameType | None) -> None:
        if interrupted.is_set():
            raise KeyboardInterrupt
        interrupted.set()

    if threading.current_thread() is not threading.main_thread():
        yield interrupted
        return
    before = {number: signal.signal(number, catch) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield interrupted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
