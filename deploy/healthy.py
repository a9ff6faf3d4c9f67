"""Exits with 0 if the process of this container is alive: `healthy.py http://127.0.0.1:8000/healthz`, or `healthy.py` for a
heartbeat in the last 30 seconds."""

import http.client
import os
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

STALE_AFTER = 30.0  # seconds


def answers(url: str) -> bool:
    at = urlsplit(url)
    connection = http.client.HTTPConnection(at.hostname or "127.0.0.1", at.port, timeout=4)
    try:
        connection.request("GET", at.path)
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def beats(file: Path) -> bool:
    return file.exists() and time.time() - file.stat().st_mtime < STALE_AFTER


if __name__ == "__main__":
    alive = answers(sys.argv[1]) if sys.argv[1:] else beats(Path(os.environ["HEARTBEAT_FILE"]))
    sys.exit(0 if alive else 1)
