"""The source of the newest recorded release, out of the history."""

import subprocess
import tarfile
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RELEASES = ROOT / "tests" / "upgrades" / "releases"


def check_out(folder: Path) -> Path | None:
    """Put the tree of the commit that recorded the newest release into the folder. None without a history."""
    newest = max(RELEASES.glob("*.sql")).relative_to(ROOT)
    command = ["git", "log", "--diff-filter=A", "--format=%H", "--", str(newest)]
    commit = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    if not commit or _is_cut_off():
        return None
    packed = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def _is_cut_off() -> bool:
    """In a shallow clone the oldest commit seems to add every file."""
    asked = ["git", "rev-parse", "--is-shallow-repository"]
    return (
        subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip() == "true"
    )
