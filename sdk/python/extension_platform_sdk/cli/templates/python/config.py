"""The app's settings, from the environment and from `.env`."""

import os
from pathlib import Path

FOLDER = Path(__file__).parent


def _read_env(file: Path) -> None:
    for line in file.read_text().splitlines() if file.exists() else []:
        name, equals, value = line.partition("=")
        if equals:
            os.environ.setdefault(name.strip(), value.strip())


_read_env(FOLDER / ".env")

PLATFORM_URL = os.environ.get("PLATFORM_URL", "http://127.0.0.1:8000")
CLIENT_ID = os.environ.get("CLIENT_ID", "")
CLIENT_SECRET = os.environ.get("CLIENT_SECRET", "")
REDIRECT_URL = os.environ.get("REDIRECT_URL", "http://localhost:3000/callback")
# Of the install on your sandbox store.
BUSINESS_ID = os.environ.get("BUSINESS_ID", "")
WEBHOOK_SECRET = os.environ.get("WEBHOOK_SECRET", "")
