"""Pins the images that deploy/ names, by their digests: `python3 -m tools.image_digests`, on a machine with Docker.

A registry can put another image under a version. So each `name:version` in deploy/Dockerfile and deploy/compose.yaml becomes
`name:version@sha256:…`, as its registry answers now. Where one doesn't answer, nothing is changed, and the status is 1. With digests in
the files already it asks no registry.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILES = ("deploy/Dockerfile", "deploy/compose.yaml")
# With a version and without a digest. An image that we build ourselves has none.
UNPINNED = re.compile(r"^(?P<before>FROM | *image: )(?P<image>[\w./-]+:[\w.-]+)(?=\s|$)", re.MULTILINE)


def pin(root: Path) -> list[str]:
    """Write the digests. Without all of them nothing is written, and the images without are returned."""
    texts = {root / name: (root / name).read_text() for name in FILES}
    images = sorted({found["image"] for text in texts.values() for found in UNPINNED.finditer(text)})
    digests = {image: digest(image) for image in images}
    if unknown := [image for image, known in digests.items() if not known]:
        return unknown
    for file, text in texts.items():
        file.write_text(UNPINNED.sub(lambda found: f"{found[0]}@{digests[found['image']]}", text))
    return []


def digest(image: str) -> str | None:
    """That of the list for all platforms; None where Docker or the registry doesn't answer."""
    command = ["docker", "buildx", "imagetools", "inspect", image, "--format", "{{json .Manifest}}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        found: str = json.loads(done.stdout)["digest"]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError):
        return None
    return found if re.fullmatch(r"sha256:[0-9a-f]{64}", found) else None


def refusal(unknown: list[str]) -> str:
    return (
        f"No registry answers for {', '.join(unknown)}, so these digests can't be known. Run this where `docker buildx "
        "imagetools inspect` reaches the registries."
    )


if __name__ == "__main__":
    if missing := pin(ROOT):
        sys.exit(refusal(missing))
