"""What shoppers read, in the languages of `texts.json`."""

import json
from typing import Any

import environment

TEXTS: dict[str, Any] = json.loads((environment.FOLDER / "texts.json").read_text(encoding="utf-8"))


def language(locale: str) -> str:
    """Such as "de" for "de-CH"; English for a language that the app doesn't speak."""
    found = locale.partition("-")[0].lower()
    return found if found in TEXTS else "en"


def of(locale: str) -> dict[str, str]:
    return dict(TEXTS[language(locale)])
