"""The OpenAPI document is valid, complete, and has examples that run."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from fastapi.openapi.models import OpenAPI

from tests.service.live import LiveService
from tests.service.operations import CATALOGUE


@pytest.fixture(scope="module")
def document(keyed_service: LiveService) -> dict[str, Any]:
    with keyed_service.client() as client:
        return client.get("/openapi.json").json()


def operations(document: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [(f"{method} {path}", operation) for path, item in document["paths"].items() for method, operation in item.items()]


def references(node: Any) -> set[str]:
    if isinstance(node, list):
        return {found for element in node for found in references(element)}
    if not isinstance(node, dict):
        return set()
    own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
    return own | {found for element in node.values() for found in references(element)}


def test_it_is_openapi_3_1(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    OpenAPI.model_validate(document)


def test_every_schema_in_it_is_a_json_schema(document: dict[str, Any]) -> None:
    for schema in document["components"]["schemas"].values():
        jsonschema_rs.meta.validate(schema | {"components": document["components"]})


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert references(document) <= known


def test_operation_ids_are_unique(document: dict[str, Any]) -> None:
    ids = [operation["operationId"] for _, operation in operations(document)]
    assert len(ids) == len(set(ids))


def test_every_operation_of_the_catalogue_has_its_endpoint(document: dict[str, Any]) -> None:
    assert {f"/v1/{operation.path}" for operation in CATALOGUE} <= set(document["paths"])


def test_examples_of_an_operation_are_named_in_its_body(document: dict[str, Any]) -> None:
    media = document["paths"]["/v1/tests/echo"]["post"]["requestBody"]["content"]
    assert list(media) == ["application/json"]
    assert media["application/json"]["examples"]["Hello"]["value"] == {"text": "hello", "times": 2}


def test_every_error_is_documented_as_a_problem(document: dict[str, Any]) -> None:
    for name, operation in operations(document):
        for status, response in operation["responses"].items():
            if int(status) >= 400 and name != "get /health/ready":
                assert list(response["content"]) == ["application/problem+json"], (name, status)


def test_everything_below_v1_asks_for_a_key(document: dict[str, Any]) -> None:
    for name, operation in operations(document):
        if " /v1/" in name:
            assert operation["security"] == [{"key": []}], name
            assert "401" in operation["responses"], name


def test_nothing_of_fastapis_own_errors_is_left(document: dict[str, Any]) -> None:
    assert "HTTPValidationError" not in document["components"]["schemas"]


def test_no_parameter_can_be_null(document: dict[str, Any]) -> None:
    for name, operation in operations(document):
        for parameter in operation.get("parameters", ()):
            assert {"type": "null"} not in parameter["schema"].get("anyOf", ()), (name, parameter["name"])
