"""What both clients know: where the service is, who asks, and the operations."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

import httpx

from app.catalogue import load_catalogue, resource_kinds
from app.client_protocol import Call
from app.settings import Settings
from solvers.operation import InvalidInput, Operation
from solvers.resource import ResourceKind

DEFAULT_URL: Final = "http://127.0.0.1:8000"


class Connection:
    """What both clients know: where the service is, who asks, and the operations."""

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        key: str | None = None,
        retries: int = 5,
        timeout: float = 30.0,
        catalogue: str | None = None,
    ) -> None:
        self.url = url.rstrip("/")
        self.retries = retries
        self.timeout = timeout
        self._catalogue_path = catalogue
        self._headers = {"User-Agent": "foresolve-client", "Accept": "application/json"}
        if key is not None:
            if not key.isascii() or not key.isprintable():
                raise InvalidInput("an API key consists of printable ASCII characters")
            self._headers["Authorization"] = f"Bearer {key}"

    @cached_property
    def operations(self) -> Mapping[str, Operation[Any, Any]]:
        """The operations of the local catalogue, by name."""
        return load_catalogue(self._catalogue_path or Settings().catalogue)

    @cached_property
    def resource_kinds(self) -> Mapping[str, ResourceKind[Any]]:
        """What the operations of the local catalogue make, by what several of them are called."""
        return resource_kinds(self.operations)

    def _operation(self, operation: str | Operation[Any, Any]) -> Operation[Any, Any]:
        if isinstance(operation, Operation):
            return operation
        try:
            return self.operations[operation]
        except KeyError:
            known = ", ".join(self.operations)
            raise InvalidInput(f"there is no operation {operation!r}; the catalogue has {known}") from None

    def _named(self, attribute: str) -> Operation[Any, Any] | ResourceKind[Any]:
        """Return the operation that a method is named after, or the kind of resources that an attribute is."""
        name = attribute.replace("_", "-")
        if not attribute.startswith("_"):
            if name in self.operations:
                return self.operations[name]
            if name in self.resource_kinds:
                return self.resource_kinds[name]
        raise AttributeError(f"the client has no method {attribute!r}, and the catalogue no operation or resources of that name")

    def __dir__(self) -> list[str]:
        named = (name.replace("-", "_") for name in (*self.operations, *self.resource_kinds))
        return sorted({*super().__dir__(), *named})

    def _timeout(self, call: Call) -> httpx.Timeout:
        return httpx.Timeout(self.timeout, read=self.timeout + call.waits)
