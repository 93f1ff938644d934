"""Operations run as a library call runs them, from the JSON of a request, and the faults they are refused with."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from solvers.field_faults import from_validation_error
from solvers.operation import Context, ForesolveError, Operation


def run(operation: Operation, body: dict[str, Any], **context: Any) -> Any:
    request = operation.request.model_validate_json(json.dumps(body))
    return operation.run(request, Context(**{"time_limit": operation.time_limit(request)} | context))


def pointer_of_fault(operation: Operation, body: dict[str, Any], **context: Any) -> str:
    """Return where a request is at fault: the pointer of the 422 that the service would answer."""
    try:
        request = operation.request.model_validate(body)
    except ValidationError as error:
        return str(from_validation_error(error, body)["errors"][0]["pointer"])
    with pytest.raises(ForesolveError) as caught:
        operation.run(request, Context(**context))
    assert caught.value.status == 422
    assert caught.value.pointer is not None
    return caught.value.pointer
