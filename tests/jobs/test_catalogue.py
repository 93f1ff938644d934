"""A catalogue is named in the settings, and a wrong one is refused with a reason."""

from __future__ import annotations

import dataclasses
import sys
import types

import pytest

from app.catalogue import load_catalogue
from tests.jobs.operations import CATALOGUE


def a_module_with(monkeypatch: pytest.MonkeyPatch, operations: object) -> str:
    module = types.ModuleType("a_catalogue")
    module.OPERATIONS = operations
    monkeypatch.setitem(sys.modules, "a_catalogue", module)
    return "a_catalogue:OPERATIONS"


def test_operations_are_found_by_name_and_in_their_order(monkeypatch):
    loaded = load_catalogue(a_module_with(monkeypatch, CATALOGUE[:3]))

    assert list(loaded.items()) == [(operation.name, operation) for operation in CATALOGUE[:3]]


@pytest.mark.parametrize(
    ("changes", "reason"), [({"path": "elsewhere"}, "are named 'echo'"), ({"name": "other"}, "have the path 'tests/echo'")]
)
def test_a_name_or_path_given_twice_is_refused(monkeypatch, changes, reason):
    twin = dataclasses.replace(CATALOGUE[0], **changes)

    with pytest.raises(ValueError, match=reason):
        load_catalogue(a_module_with(monkeypatch, [CATALOGUE[0], twin]))


@pytest.mark.parametrize("path", ["tests.jobs.operations", "tests.jobs.operations:NOTHING"])
def test_a_path_that_names_no_catalogue_is_refused(path):
    with pytest.raises(ValueError, match="catalogue"):
        load_catalogue(path)
