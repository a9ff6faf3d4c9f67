"""What commands print with `--json`, checked against the schema that is published for it."""

import json
from typing import Any

from extension_platform_sdk.cli.schema import schema_of
from jsonschema import Draft202012Validator, FormatChecker


def validated(command: str, text: str) -> Any:
    """The output of a command, or of an "error"."""
    found = json.loads(text)
    schema = schema_of(command)
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema, format_checker=FormatChecker()).validate(found)
    return found
