"""What an operation is given by its context."""

import json

import pytest

from app.problems import JOB_PROBLEMS
from solvers.operation import Context, InvalidInput, MapFailure, internal_error


def reciprocal(number):
    if number < 0:
        raise InvalidInput(f"{number} is negative", pointer="/number")
    return 1 / number


def test_map_keeps_the_order_and_puts_a_failure_in_its_place():
    first, second, third = Context().map(reciprocal, [1, -1, 2])
    assert (first, third) == (1, 0.5)
    assert second == MapFailure(1, InvalidInput("-1 is negative", pointer="/number").problem())


def test_map_turns_a_failure_that_nobody_foresaw_into_an_internal_error():
    first, second = Context().map(reciprocal, [0, 2])
    assert (first.index, first.problem["type"], first.problem["status"]) == (0, "internal-error", 500)
    assert second == 0.5


def test_internal_error_of_an_item_says_nothing_of_what_it_was():
    def fail(item):
        raise KeyError("hunter2")

    failure = Context().map(fail, [0])[0]
    assert "hunter2" not in json.dumps(failure.problem)
    assert "KeyError" not in json.dumps(failure.problem)


def test_log_has_the_details_of_an_internal_error_under_its_incident(caplog):
    failure = Context().map(reciprocal, [0])[0]
    assert failure.problem["incident"] in caplog.text
    assert "ZeroDivisionError" in caplog.text


def test_map_does_not_swallow_an_interrupt():
    def interrupt(item):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Context().map(interrupt, [0])


def test_two_incidents_are_told_apart():
    assert internal_error()["incident"] != internal_error()["incident"]


def test_internal_error_is_the_one_that_the_service_explains():
    kind = JOB_PROBLEMS["internal-error"]
    assert (internal_error()["title"], internal_error()["status"]) == (kind.title, kind.status)
