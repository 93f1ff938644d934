"""Files that claim to be models: only what a fit has made is one, and what is damaged is refused with its reason."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from typing import Any

import pytest

from solvers.gam.operations.certificate import GAM_CERTIFICATE
from solvers.gam.operations.compare import GAM_COMPARE
from solvers.gam.operations.compress import GAM_COMPRESS
from solvers.gam.operations.demo import demo_model
from solvers.gam.operations.edit import GAM_EDIT, GAM_HISTORY, GAM_UNDO
from solvers.gam.operations.export import GAM_EXPORT
from solvers.gam.operations.model_record import ModelRecord, shown_details
from solvers.gam.operations.models import DEMO_EDITED, MODELS
from solvers.gam.operations.predict import GAM_PREDICT
from solvers.operation import ForesolveError, InvalidInput, Operation
from tests.solvers.gam.operations.running import Desk, people

WRONG: list[Any] = [None, True, -1, 10**30, float("nan"), "", "\0", [], {}, [[]]]
REQUESTS: list[tuple[Operation, dict[str, Any]]] = [
    (GAM_PREDICT, {"rows": people(1)}),
    (GAM_EDIT, {"operations": [{"op": "remove", "feature": "age"}]}),
    (GAM_UNDO, {}),
    (GAM_HISTORY, {}),
    (GAM_COMPRESS, {"tol": 0.1}),
    (GAM_EXPORT, {}),
    (GAM_COMPARE, {}),
    (GAM_CERTIFICATE, {}),
]


@pytest.mark.parametrize(("operation", "more"), REQUESTS, ids=[operation.name for operation, _ in REQUESTS])
def test_an_uploaded_file_is_no_model_even_if_it_holds_one(desk: Desk, spending: str, operation: Operation, more: dict) -> None:
    copy = desk.files.save(MODELS.read(desk.files, spending), name="copy", media_type=MODELS.media_type)
    with pytest.raises(InvalidInput, match="only what an operation of the service made is one") as refused:
        desk(operation, {"model": copy} | more)
    assert refused.value.pointer == "/model"


def test_an_uploaded_file_is_no_baseline(desk: Desk, spending: str) -> None:
    copy = desk.upload(MODELS.read(desk.files, spending))
    with pytest.raises(InvalidInput) as refused:
        desk(GAM_COMPARE, {"model": spending, "baseline": copy})
    assert refused.value.pointer == "/baseline"


def test_damaged_bytes_are_read_or_refused_with_a_reason() -> None:
    content, rng = demo_model(DEMO_EDITED).record, random.Random(0)
    for _ in range(150):
        damaged = bytearray(content)
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(damaged))
            damaged[at : at + rng.randint(0, 20)] = rng.choice([b"", b"\xff", b"[", b'"', b"9" * 30, bytes([rng.randrange(256)])])
        read_or_refuse(bytes(damaged))


def test_wrong_values_are_read_or_refused_with_a_reason() -> None:
    content, rng = demo_model(DEMO_EDITED).record, random.Random(0)
    for _ in range(150):
        document = json.loads(content)
        holder, place = rng.choice(list(places(document)))
        holder[place] = rng.choice(WRONG)
        read_or_refuse(json.dumps(document).encode())


@pytest.mark.parametrize("content", [b"", b"{}", b"[" * 100_000, b'{"format": "foresolve-gam"}', b"\xff\xfe", b"null"])
def test_what_is_no_record_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidInput, match="the file holds no model"):
        ModelRecord.from_bytes(content)


def read_or_refuse(content: bytes) -> None:
    """Read and show a record; anything but a clear problem is a failure of the test."""
    assert MODELS.brief is not None
    for show in (lambda: shown_details(ModelRecord.from_bytes(content)).model_dump_json(), lambda: MODELS.brief(content)):
        with suppress(ForesolveError):
            show()


def places(value: Any) -> Any:
    """Yield every holder of a value in a document with the value's place in it."""
    items = value.items() if isinstance(value, dict) else enumerate(value[:4]) if isinstance(value, list) else ()
    for place, inner in items:
        yield value, place
        yield from places(inner)
