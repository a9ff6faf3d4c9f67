"""What a command prints: a sentence for people, or with ``--json`` one JSON value for programs.

``schemas.json`` beside this file describes the JSON of each command, and ``extension-platform schema`` prints it.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from extension_platform_sdk.errors import ApiError
from extension_platform_sdk.transport import Record


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON, errors included")


def show(record: Any, args: argparse.Namespace, text: str) -> None:
    if args.json:
        print(json.dumps(record, indent=2))
    elif text:
        print(text)


def named(app: Record) -> Record:
    """What programs need of an app."""
    return {name: app[name] for name in ("id", "slug", "name")}


def error_record(message: str, error: Exception) -> Record:
    """An error in the shape of the developer API. ``statusCode`` and ``code`` are null unless the platform answered."""
    record: Record = {"type": "error", "statusCode": None, "message": message, "error": type(error).__name__}
    if not isinstance(error, ApiError):
        return record | {"code": None}
    record |= {
        "statusCode": error.status_code,
        "message": error.message,
        "error": error.error,
        "code": error.code,
    }
    return record | ({"details": error.details} if error.details else {})
