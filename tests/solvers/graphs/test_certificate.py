"""Certificates travel inside a response or in a file beside it."""

import json

import pytest

from solvers.graphs.certificate import UnreadableCertificate, load, store_large
from solvers.operation import Context, UnknownFile


def _file(context, content):
    return context.files.save(content, name="c.json", media_type="application/json")


def test_a_short_certificate_stays_where_it_is():
    certificate = {"kind": "sdp_dual", "y": [0.0] * 9_990, "delta": 0.0}

    assert store_large(certificate, Context()) is certificate


@pytest.mark.parametrize(
    "certificate",
    [
        {"kind": "sdp_dual", "y": [0.5] * 10_001, "delta": 0.0},
        {"kind": "odd_cycles", "cycles": [[0, 1, 2]] * 4000},
        {"kind": "reduced", "steps": [["degree_1", 0, 1]] * 4000, "kernel": {"kind": "trivial"}},
    ],
)
def test_a_long_certificate_comes_back_from_its_file(certificate):
    context = Context()

    stored = store_large(certificate, context)

    assert stored.keys() == {"kind", "file"}
    assert load(stored, context) == certificate


def test_a_certificate_without_a_file_is_loaded_as_it_is():
    assert load({"kind": "trivial"}, Context()) == {"kind": "trivial"}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not JSON",
        b"[]",
        b"\xff\xfe",
        json.dumps({"kind": "trivial"}).encode(),
        b'{"kind": "sdp_dual", "file": "x"}',
        b"[" * 9999,
    ],
)
def test_a_file_that_holds_something_else_is_refused(content):
    context = Context()

    with pytest.raises(UnreadableCertificate):
        load({"kind": "sdp_dual", "file": _file(context, content)}, context)


def test_a_file_that_does_not_exist_is_unknown():
    with pytest.raises(UnknownFile):
        load({"kind": "trivial", "file": "file_none"}, Context())


@pytest.mark.parametrize("file", [None, 3, ["a"], {"a": 1}])
def test_a_file_is_named_by_a_string(file):
    with pytest.raises(UnreadableCertificate):
        load({"kind": "trivial", "file": file}, Context())
