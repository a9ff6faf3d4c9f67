"""The app's settings, from the environment and from `.env`."""

import os
import re
from pathlib import Path

FOLDER = Path(__file__).parent
# A name and its value, which may be in quotes, as Node reads the file, too.
_LINE = re.compile(r"""^\s*(?:export\s+)?([\w.-]+)\s*=[^\S\n]*('[^']*'|"[^"]*"|`[^`]*`|[^#\n]*)""", re.MULTILINE)


def _read_env(file: Path) -> None:
    text = file.read_text(encoding="utf-8-sig", errors="replace") if file.exists() else ""
    for name, value in dict(_LINE.findall(text)).items():
        plain = re.sub(r"""^(['"`])(.*)\1$""", r"\2", value.strip(), flags=re.DOTALL)
        os.environ.setdefault(name, plain.replace("\\n", "\n") if value.startswith('"') else plain)


_read_env(FOLDER / ".env")

# In tests on a store of the platform, that platform.
PLATFORM_URL = os.environ.get("PLATFORM_URL") or os.environ.get("EXTENSION_PLATFORM_URL") or "http://127.0.0.1:8000"
CLIENT_ID = os.environ.get("CLIENT_ID", "")
CLIENT_SECRET = os.environ.get("CLIENT_SECRET", "")
REDIRECT_URL = os.environ.get("REDIRECT_URL", "SERVER/callback")
# Of the install on your sandbox store.
BUSINESS_ID = os.environ.get("BUSINESS_ID", "")
ACCESS_TOKEN = os.environ.get("ACCESS_TOKEN", "")
WEBHOOK_SECRET = os.environ.get("WEBHOOK_SECRET", "")
