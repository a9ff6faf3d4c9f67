"""Writes requirements.txt: `python -m tools.pins`, after a change of constraints.txt or of the project's requirements.

It has every package that an installation needs, extras included, at the version of constraints.txt, with the hashes of its files for
all platforms and Pythons that are supported. `pip install --require-hashes` then accepts only these files, from wherever they come.
"""

from pathlib import Path

from common.supported import SUPPORTED, text
from tools.uv import uv

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = ("otel", "s3", "sentry")


def write(root: Path) -> None:
    uv(
        "pip", "compile", str(root / "pyproject.toml"), "--quiet", "--universal", "--generate-hashes", "--no-emit-index-url",
        "--no-annotate", "--constraint", str(root / "constraints.txt"), "--custom-compile-command", "python -m tools.pins",
        "--python-version", text(SUPPORTED["Python"].oldest), "--output-file", str(root / "requirements.txt"),
        *(f"--extra={extra}" for extra in EXTRAS),
    )  # fmt: skip


if __name__ == "__main__":
    write(ROOT)
