"""The operations of auctions alone: a service of these is ready sooner than one of all."""

from app.operations import CATALOGUE as EVERYTHING

CATALOGUE = tuple(operation for operation in EVERYTHING if operation.path.startswith("auctions/"))
