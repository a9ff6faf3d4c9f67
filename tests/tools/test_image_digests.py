"""Images of deploy/ get the digests that registries know, all of them or none."""

import shutil
from pathlib import Path

import pytest

from tools.image_digests import FILES, ROOT, UNPINNED, pin

DIGEST = f"sha256:{'a1' * 32}"
# In place of Docker, which asks registries that can't be reached here. It knows every image but those named in $UNKNOWN.
DOCKER = """#!/bin/sh
[ "$1 $2 $3 $5 $6" = "buildx imagetools inspect --format {{json .Manifest}}" ] || exit 2
case " $UNKNOWN " in *" $4 "*) exit 1 ;; esac
echo '{"mediaType": "application/vnd.oci.image.index.v1+json", "digest": "DIGEST", "size": 1}'
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "deploy").mkdir()
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path / name)
    docker = tmp_path / "docker"
    docker.write_text(DOCKER.replace("DIGEST", DIGEST))
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return tmp_path


def texts(root: Path) -> list[str]:
    return [(root / name).read_text() for name in FILES]


def test_every_image_of_others_gets_its_digest(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = texts(root)
    assert pin(root) == []
    dockerfile, compose = texts(root)
    assert dockerfile.count(f"@{DIGEST} AS build\n") == 1
    assert dockerfile.count(f"@{DIGEST}") == 2
    assert {"nginx", "postgres", "redis"} <= images(before[1])
    assert compose.count(f"@{DIGEST}\n") == len(images(before[1]))
    assert [text.replace(f"@{DIGEST}", "") for text in (dockerfile, compose)] == before
    monkeypatch.setenv("PATH", "")  # a second time no registry is asked
    assert pin(root) == []


def images(text: str) -> set[str]:
    return {found["image"].split(":")[0] for found in UNPINNED.finditer(text)}


def test_without_one_digest_nothing_is_written(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = texts(root)
    (unknown, *_) = (found["image"] for found in UNPINNED.finditer(before[0]))
    monkeypatch.setenv("UNKNOWN", unknown)
    assert pin(root) == [unknown]
    assert texts(root) == before
