"""The settings schemas of third-party apps: which ones are accepted, which values fit, and what they resolve to.

A `settingsSchema` comes from a stranger and is hostile until checked (contract, section 6): a published subset of
JSON Schema (`keywords`), nothing fetched, patterns in linear time, a fixed amount of work (`validator`). All code
behind the check reads `resolved(schema)`, a tree of limited size without references.
"""

from extensions.schemas.checking import problems_of_schema, problems_of_values, without_misfits
from extensions.schemas.references import resolved

__all__ = ["problems_of_schema", "problems_of_values", "resolved", "without_misfits"]
