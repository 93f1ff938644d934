"""Schemathesis against the OpenAPI document: no server error, no undocumented answer, every response valid against its schema."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from app.main import create_app
from app.settings import Settings
from tests.service.conftest import BOOTSTRAP_KEY
from tests.service.live import LiveService, live_service

# The first test waits for the kernels of the real catalogue.
pytestmark = pytest.mark.timeout(600)

CATALOGUES = {"tests": "tests.service.operations:FUZZED", "service": "app.operations:CATALOGUE"}
FRAMING = {"connection", "content-length", "expect", "te", "trailer", "transfer-encoding", "upgrade"}


class Fuzzed(NamedTuple):
    """A service, and things that exist in it."""

    live: LiveService
    known: dict[str, str]


@contextmanager
def fuzzed(folder: Path, catalogue: str) -> Iterator[Fuzzed]:
    key_file = folder / "key"
    key_file.write_text(BOOTSTRAP_KEY)
    with (
        live_service(folder, catalogue=catalogue, bootstrap_key_file=key_file, max_time_limit=0.2, max_wait=2) as live,
        live.client(BOOTSTRAP_KEY) as client,
    ):
        operation = client.get("/v1/operations").json()["operations"][0]["name"]
        described = client.get(f"/v1/operations/{operation}").json()
        posted = client.post(described["path"], json=next(iter(described["examples"].values())))
        file_id = client.post("/v1/files", content=b"3 2").json()["id"]
        job_id = posted.headers["Foresolve-Job"]
        kinds = [operation.makes for operation in live.service.catalogue.values() if operation.makes is not None]
        resource_id = next(demo for kind in kinds for demo in kind.demos)
        names = {"name": operation, "slug": "timeout", "resource_id": resource_id}
        yield Fuzzed(live, {"job_id": job_id, "file_id": file_id} | names)


@pytest.fixture(scope="module")
def fuzzed_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuzzed]:
    with fuzzed(tmp_path_factory.mktemp("fuzzed"), CATALOGUES["tests"]) as one:
        yield one


@pytest.fixture(scope="module")
def fuzzed_service(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[Fuzzed]:
    folder = tmp_path_factory.mktemp("fuzzed-service")
    # Compiled kernels outlast the run: compiling them anew takes longer than everything else here.
    (folder / "cache").symlink_to(pytestconfig.cache.mkdir("kernels"))
    with fuzzed(folder, CATALOGUES["service"]) as one:
        yield one


def document(catalogue: str) -> schemathesis.BaseSchema:
    """Return the OpenAPI document without its security: every request here has a key, and what happens without is tested elsewhere."""
    document = copy.deepcopy(create_app(Settings(catalogue=catalogue)).openapi())
    for path in document["paths"].values():
        for operation in path.values():
            operation.pop("security", None)
    schema = schemathesis.openapi.from_dict(document)
    schema.config.generation.update(allow_x00=True)
    return schema


def check(case: schemathesis.Case, fuzzed: Fuzzed) -> None:
    # Half of the requests speak of things that exist.
    if case.method != "DELETE" and len(str(case.path_parameters)) % 2:
        case.path_parameters = {name: fuzzed.known[name] for name in case.path_parameters or {}}
    # Headers that frame the message are between the client and the HTTP parser; the document says nothing of them.
    case.headers = {name: value for name, value in (case.headers or {}).items() if name.lower() not in FRAMING}
    response = case.call(base_url=fuzzed.live.url, headers={"Authorization": f"Bearer {BOOTSTRAP_KEY}"})
    # What the schema allows can still name a vertex, a file or a page that is not there, or reuse an idempotency key.
    is_up_to_state = case.method == "POST" or "cursor" in (case.query or {})
    case.validate_response(response, excluded_checks=[positive_data_acceptance] if is_up_to_state else [])
    assert response.status_code < 500


bounded = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@document(CATALOGUES["tests"]).parametrize()
@bounded
def test_the_machinery_does_as_its_document_says(case: schemathesis.Case, fuzzed_tests: Fuzzed) -> None:
    check(case, fuzzed_tests)


@document(CATALOGUES["service"]).include(path_regex="^/v1/(?!jobs|files|operations)").parametrize()
@bounded
def test_the_operations_do_as_their_document_says(case: schemathesis.Case, fuzzed_service: Fuzzed) -> None:
    check(case, fuzzed_service)
