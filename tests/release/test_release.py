"""`make release` in a clone: everything that it makes, and that it leaves nothing behind where it can't."""

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from common.supported import SUPPORTED
from developers.sdks.packages import npm_version
from tests.release.making import Released, cloned, git, make_release
from tools.contract_changes import newest
from tools.pins import EXTRAS
from tools.release import checks, numbers, packages
from tools.uv import uv

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.postgres, pytest.mark.timeout(1800)]


def test_commit_has_the_version_everywhere_and_the_tag(released: Released) -> None:
    clone, version = released.clone, released.version
    following = numbers.development(version)
    assert set(numbers.read(clone).values()) == {following, npm_version(following)}
    git(clone, "checkout", "--quiet", released.tag)
    assert set(numbers.read(clone).values()) == {version}
    assert f"## [Unreleased]\n\n## [{version}] - 20" in (clone / "CHANGELOG.md").read_text()
    assert re.search(
        rf"^### {re.escape(version)} \(\d+ \w+ 20\d\d\)$",
        (clone / "docs/upgrading.md").read_text(),
        re.MULTILINE,
    )
    git(clone, "checkout", "--quiet", "main")
    assert git(clone, "rev-parse", f"{released.tag}^{{commit}}") == git(clone, "rev-parse", "main~1")
    assert git(clone, "cat-file", "-t", released.tag) == "tag"
    assert git(clone, "log", "-2", "--format=%s").splitlines() == [
        f"Go on as {following}",
        f"Release {version}",
    ]
    recorded = git(clone, "show", "--name-only", "--format=", released.tag).split()
    assert {f"tests/upgrades/releases/{released.tag}.sql", f"docs/contract/{released.tag}.json"} <= set(
        recorded
    )
    assert git(clone, "status", "--porcelain") == ""
    assert len(git(clone, "worktree", "list").splitlines()) == 1


def test_files_of_a_release_are_made_again_from_its_commit(released: Released) -> None:
    """By anybody who has its history, also after main has moved on and without the tag."""
    sums = released.clone / "dist" / packages.SUMS
    before = sums.read_text()
    git(released.clone, "commit", "--quiet", "--allow-empty", "--message", "Go on")
    git(released.clone, "tag", "--delete", released.tag)
    subprocess.run(
        [sys.executable, "-m", "tools.release", released.version, "--files"],
        cwd=released.clone, env=os.environ | {"DEBUG": "1", "PYTHONPATH": str(released.clone)}, check=True,
    )  # fmt: skip
    git(released.clone, "tag", "--annotate", "--message", "Release", released.tag, "HEAD~2")
    git(released.clone, "reset", "--quiet", "--hard", "HEAD~1")
    assert sums.read_text() == before


def test_archive_is_what_the_tag_checks_out_and_the_same_each_time(
    released: Released, tmp_path: Path
) -> None:
    checked_out = tmp_path / "elsewhere"
    subprocess.run(
        ["git", "clone", "--quiet", "--depth=1", "--branch", released.tag, released.clone.as_uri(), str(checked_out)],
        check=True, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    again = tmp_path / "again.tar.gz"
    packages.archive(checked_out, released.tag, again)
    assert again.read_bytes() == released.archive.read_bytes()
    with tarfile.open(released.archive) as archive:
        files = {member.name.partition("/")[2] for member in archive if member.isfile()}
    assert files == set(git(checked_out, "ls-files").splitlines())


def test_sums_are_those_of_all_files(released: Released) -> None:
    subprocess.run(
        ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=released.dist, check=True
    )
    summed = re.findall(r"  (\S+)$", (released.dist / "SHA256SUMS").read_text(), re.MULTILINE)
    assert sorted([*summed, "SHA256SUMS"]) == sorted(file.name for file in released.dist.iterdir())
    names = {
        "extension_platform_sdk",
        "extension_platform_store",
        "extension-platform-node",
        "extension-platform-browser",
        "extension-platform-v",
    }
    assert {re.split(r"-?(?=\d)", name)[0] for name in summed} == names


def test_packages_of_the_sdks_have_the_version_and_their_files(released: Released) -> None:
    for name, own in (
        ("extension_platform_sdk", "/cli/templates/"),
        ("extension_platform_store", "/django/migrations/"),
    ):
        (wheel,) = released.dist.glob(f"{name}-*.whl")
        with zipfile.ZipFile(wheel) as content:
            (about,) = (each for each in content.namelist() if each.endswith(".dist-info/METADATA"))
            assert f"\nVersion: {released.version}\n" in content.read(about).decode()
            assert {f"{name}/py.typed", f"{name}/__init__.py"} <= set(content.namelist())
            assert any(own in each for each in content.namelist())
    for package in ("node", "browser"):
        with tarfile.open(released.dist / f"extension-platform-{package}-{released.version}.tgz") as content:
            about = content.extractfile("package/package.json")
            assert about is not None
            assert json.load(about)["version"] == released.version
            assert [name for name in content.getnames() if name.endswith(".d.ts")]


def test_bill_of_materials_lists_what_is_installed(released: Released) -> None:
    (file,) = released.dist.glob("*.cdx.json")
    bill = json.loads(file.read_text())
    assert (bill["bomFormat"], bill["metadata"]["component"]["version"]) == ("CycloneDX", released.version)
    listed = {each["name"].lower().replace("_", "-"): each["version"] for each in bill["components"]}
    pinned = dict(
        re.findall(r"^([\w.-]+)==([^\s;]+)", (released.clone / "requirements.txt").read_text(), re.MULTILINE)
    )
    assert listed.keys() <= pinned.keys()
    assert {name: pinned[name] for name in listed} == listed
    project = tomllib.loads((released.clone / "pyproject.toml").read_text())["project"]
    required = [
        *project["dependencies"],
        *(each for extra in EXTRAS for each in project["optional-dependencies"][extra]),
    ]
    names = {re.split(r"[\[<>=~]", each)[0].lower().replace("_", "-") for each in required}
    assert names <= listed.keys()
    assert "file:" not in file.read_text()  # nor any other trace of the machine


@pytest.mark.parametrize("minor", range(SUPPORTED["Python"].oldest[1], SUPPORTED["Python"].newest[1] + 1))
def test_pins_can_be_installed_with_each_python_without_compiling(minor: int, tmp_path: Path) -> None:
    uv(
        "pip", "install", "--quiet", "--dry-run", "--require-hashes", "--only-binary=:all:", "--target", str(tmp_path),
        f"--python-version=3.{minor}", "--python-platform=x86_64-manylinux_2_36", "--python", sys.executable,
        "--requirement", str(ROOT / "requirements.txt"),
    )  # fmt: skip


def test_release_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """Here no registry knows the digests, and nothing says that they may be missing."""
    clone = cloned(tmp_path / "clone")
    before = git(clone, "rev-parse", "HEAD")
    docker = tmp_path / "docker"
    docker.write_text("#!/bin/sh\nexit 1\n")
    docker.chmod(0o755)
    version = checks.following(newest(ROOT / "docs/contract").removeprefix("v"))[1]
    failed = make_release(clone, version, PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert failed.returncode != 0
    assert "No registry answers for" in failed.stderr
    assert "python:3.11" in failed.stderr
    assert git(clone, "rev-parse", "HEAD") == before
    assert git(clone, "tag") == ""
    assert git(clone, "status", "--porcelain") == ""
    assert len(git(clone, "worktree", "list").splitlines()) == 1
