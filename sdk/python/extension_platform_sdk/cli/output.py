"""What a command prints: a sentence for people, or with ``--json`` the records of the developer API for programs."""

from __future__ import annotations

import argparse
import json
from typing import Any


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON, errors included")


def show(record: Any, args: argparse.Namespace, text: str) -> None:
    print(json.dumps(record, indent=2) if args.json else text)
