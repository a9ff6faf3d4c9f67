"""What every app says of its endpoints, together."""

from accounts.api import reference as accounts
from appapi import reference as appapi
from common.api_reference import Bodies, Operation
from common.json_schema import Schema
from developers.api import reference as developers
from installations import reference as installations

# In the order in which the pages tell of them.
TABLES = (appapi, developers, installations, accounts)
ROOT_OF = {
    "/app-api": "App API",
    "/webhooks": "App API",
    "/developer": "Developer API",
    "/oauth": "Accounts and OAuth",
    "/.well-known": "Accounts and OAuth",
    "/auth": "Accounts and OAuth",
}

OPERATIONS: dict[str, Operation] = {}
GROUPS: dict[str, str] = {}
RECORDS: dict[str, Schema] = {}
for table in TABLES:
    OPERATIONS |= table.OPERATIONS
    GROUPS |= table.GROUPS
    RECORDS |= table.RECORDS
BODIES: Bodies = {**accounts.BODIES, **appapi.BODIES, **developers.BODIES}


def part_of(path: str) -> str:
    """The part of the service that a path belongs to: `App API` for `/webhooks/{webhookId}`."""
    return next(part for root, part in ROOT_OF.items() if path.startswith(root))
