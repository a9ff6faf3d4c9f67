"""Calls uv, which is installed with the development requirements."""

import os
import subprocess
import sys
from pathlib import Path


def uv(*arguments: str, **environment: str) -> None:
    """It trusts the certificates of the system, as pip does. Raises CalledProcessError, after uv has said why."""
    program = str(Path(sys.executable).with_name("uv"))
    subprocess.run([program, *arguments], check=True, env=os.environ | {"UV_SYSTEM_CERTS": "1"} | environment)
