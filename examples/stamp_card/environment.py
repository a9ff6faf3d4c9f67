"""The app's settings, from the environment."""

import os
from pathlib import Path

FOLDER = Path(__file__).parent
# In tests on a store of the platform, that platform.
PLATFORM_URL = (
    os.environ.get("PLATFORM_URL") or os.environ.get("EXTENSION_PLATFORM_URL") or "http://127.0.0.1:8000"
)
CLIENT_ID = os.environ.get("CLIENT_ID", "")
CLIENT_SECRET = os.environ.get("CLIENT_SECRET", "")
REDIRECT_URL = os.environ.get("REDIRECT_URL", "http://localhost:3000/callback")
DATABASE = Path(os.environ.get("DATABASE") or FOLDER / "stamp-card.sqlite3")
