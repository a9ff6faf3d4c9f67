"""What the app adds to a store: ``manifest.json``, with the address that this app runs at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

WRITTEN_FOR = "https://bell.example.com"
"""The address that the file names."""


def manifest(public_url: str) -> dict[str, Any]:
    """The manifest to save on the platform, for an app that browsers and the platform reach at ``public_url``."""
    text = (Path(__file__).parent / "manifest.json").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text.replace(WRITTEN_FOR, public_url))
    return document
