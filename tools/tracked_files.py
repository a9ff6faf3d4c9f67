"""Finds files that git should not track: too large ones, and those with a credential in them.

`python -m tools.tracked_files` checks all that git tracks; with names of files, only these.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_BYTES = 500_000
LARGE = ("tests/browser/vendor/", "static/vendor/")

# Issued by this platform. Tests make up many of them.
OURS = {
    "access token": re.compile(r"\bfbat_[\w-]{16,}", re.ASCII),
    "developer token": re.compile(r"\bfbdt_[\w-]{16,}", re.ASCII),
    "client secret": re.compile(r"\bfbcs_[\w-]{16,}", re.ASCII),
    "webhook secret": re.compile(r"\bwhsec_[\w+/-]{16,}={0,2}", re.ASCII),
}
# Issued by others, and not known to detect-secrets, which finds the rest. No test needs one.
OTHERS = {
    "GitHub token": re.compile(r"\bgithub_pat_\w{40}"),
    "Google key": re.compile(r"\bAIza[\w-]{35}"),
    "npm token": re.compile(r"\bnpm_[A-Za-z0-9]{36}\b"),
}
# The name of a secret, and a value that may be random.
ASSIGNED = re.compile(
    r"""(?:secret|passw(?:or)?d|token|api_?key|private_?key|encryption_keys?)\w*["']?\s*[:=]\s*["']?"""
    r"""([\w+/~-]{20,}+={0,2})(?![.(])""",
    re.IGNORECASE | re.ASCII,
)
# In the descriptions of the APIs.
SAMPLES = ("whsec_test_kT0gXn2J", "eyJhbGciOiJIUzI1NiJ9")


def main(names: list[str]) -> int:
    problems = [problem for name in names or tracked() for problem in check(name, (ROOT / name).read_bytes())]
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


def tracked() -> list[str]:
    """Names of files from the root, without those that are deleted and not committed yet."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def check(name: str, content: bytes) -> Iterator[str]:
    """Problems of one file, each as `name:line: problem`."""
    if len(content) > MAX_BYTES and not name.startswith(LARGE):
        yield f"{name}:1: {len(content):,} bytes, {MAX_BYTES:,} are allowed"
    if b"\0" in content or name.startswith(LARGE):
        return
    for number, line in enumerate(content.decode(errors="replace").splitlines(), start=1):
        for kind in credentials(line, in_tests=name.startswith("tests/")):
            yield f"{name}:{number}: {kind}; revoke it if it is real, or add it to SAMPLES"


def credentials(line: str, *, in_tests: bool) -> Iterator[str]:
    """The kinds of credentials in a line."""
    kinds = OTHERS if in_tests else OURS | OTHERS
    for kind, pattern in kinds.items():
        if any(not text.startswith(SAMPLES) for text in pattern.findall(line)):
            yield kind
    values = [] if in_tests else ASSIGNED.findall(line)
    if any(_is_random(value) and not value.startswith(SAMPLES) for value in values):
        yield "assigned secret"


def _is_random(text: str) -> bool:
    """Whether digits are mixed with capital and small letters, or there are several of them."""
    digits = sum(map(str.isdigit, text))
    return digits >= 3 or (digits > 0 and text != text.lower() and text != text.upper())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
