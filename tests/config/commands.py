"""`manage.py` in a process of its own, as an operator runs it."""

import os
import subprocess
import sys
from pathlib import Path

from cryptography.fernet import Fernet

from tests.faults.processes import Process

ROOT = Path(__file__).resolve().parents[2]


def production(var_dir: Path) -> dict[str, str]:
    """An environment that a start accepts."""
    return {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "VAR_DIR": str(var_dir),
        "SECRET_KEY": "".join(map(chr, range(48, 122))),
        "FIELD_ENCRYPTION_KEYS": Fernet.generate_key().decode(),
        "BASE_URL": "https://platform.example",
        "STORES_URL": "https://{slug}.stores.test",
        "STORES_DOMAIN_IS_PUBLIC_SUFFIX": "on",
        "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none",
        "REDIS_URL": "redis://127.0.0.1:1/0",
        "EMAIL_URL": "smtp+tls://platform:password@127.0.0.1:1",
        "SECURITY_CONTACT": "mailto:security@platform.example",
    }


def run(var_dir: Path, *command: str, **changes: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]} | production(var_dir) | changes,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def children(process: Process) -> set[int]:
    found = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return {int(each) for each in found}
