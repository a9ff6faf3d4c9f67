"""The settings schemas of third-party apps: what is accepted, what values fit, what they give by default.

A `settingsSchema` comes from a stranger, so it is taken as hostile (contract section 6): nothing is ever fetched,
patterns are matched in linear time, and checking ends after a fixed amount of work (`metering`). Everything behind
the check works on `resolved(schema)`, a plain tree without references whose size has a limit.
"""

from extensions.schemas.checking import problems_of_schema
from extensions.schemas.tree import resolved
from extensions.schemas.values import problems_of_values

__all__ = ["problems_of_schema", "problems_of_values", "resolved"]
