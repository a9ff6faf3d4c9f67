"""`make release` in a clone: everything that it makes, and that it leaves nothing behind where it can't."""

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from datetime import date
from pathlib import Path

import pytest

from common.supported import SUPPORTED
from tests.release.conftest import Released, cloned, git, make_release
from tools.contract_changes import newest
from tools.pins import EXTRAS
from tools.release import checks, notes, numbers, packages
from tools.uv import uv

ROOT = Path(__file__).resolve().parents[2]
of_a_release = [pytest.mark.slow, pytest.mark.postgres, pytest.mark.timeout(1800)]
slow = [pytest.mark.slow, pytest.mark.timeout(600)]


def marked(marks: list[pytest.MarkDecorator]):  # type: ignore[no-untyped-def]
    def mark(test):  # type: ignore[no-untyped-def]
        for each in marks:
            test = each(test)
        return test

    return mark


@marked(of_a_release)
def test_commit_has_the_version_everywhere_and_the_tag(released: Released) -> None:
    clone, version = released.clone, released.version
    assert set(numbers.read(clone).values()) == {version}
    assert f"## [Unreleased]\n\n## [{version}] - 20" in (clone / "CHANGELOG.md").read_text()
    assert re.search(
        rf"^### {re.escape(version)} \(\d+ \w+ 20\d\d\)$",
        (clone / "docs/upgrading.md").read_text(),
        re.MULTILINE,
    )
    assert git(clone, "rev-parse", f"{released.tag}^{{commit}}") == git(clone, "rev-parse", "main")
    assert git(clone, "cat-file", "-t", released.tag) == "tag"
    assert git(clone, "log", "-1", "--format=%s") == f"Release {version}"
    recorded = git(clone, "show", "--name-only", "--format=", released.tag).split()
    assert {f"tests/upgrades/releases/{released.tag}.sql", f"docs/contract/{released.tag}.json"} <= set(
        recorded
    )
    assert git(clone, "status", "--porcelain") == ""
    assert len(git(clone, "worktree", "list").splitlines()) == 1


@marked(of_a_release)
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


@marked(of_a_release)
def test_sums_are_those_of_all_files(released: Released) -> None:
    subprocess.run(
        ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=released.dist, check=True
    )
    summed = re.findall(r"  (\S+)$", (released.dist / "SHA256SUMS").read_text(), re.MULTILINE)
    assert sorted([*summed, "SHA256SUMS"]) == sorted(file.name for file in released.dist.iterdir())
    names = {
        "extension_platform_sdk",
        "extension-platform-node",
        "extension-platform-browser",
        "extension-platform-v",
    }
    assert {re.split(r"-?(?=\d)", name)[0] for name in summed} == names


@marked(of_a_release)
def test_packages_of_the_sdks_have_the_version_and_their_files(released: Released) -> None:
    (wheel,) = released.dist.glob("*.whl")
    with zipfile.ZipFile(wheel) as content:
        (about,) = (name for name in content.namelist() if name.endswith(".dist-info/METADATA"))
        assert f"\nVersion: {released.version}\n" in content.read(about).decode()
        assert {"extension_platform_sdk/py.typed", "extension_platform_sdk/__init__.py"} <= set(
            content.namelist()
        )
        assert any("/cli/templates/" in name for name in content.namelist())
    for package in ("node", "browser"):
        with tarfile.open(released.dist / f"extension-platform-{package}-{released.version}.tgz") as content:
            about = content.extractfile("package/package.json")
            assert about is not None
            assert json.load(about)["version"] == released.version
            assert [name for name in content.getnames() if name.endswith(".d.ts")]


@marked(of_a_release)
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
    assert {re.split(r"[\[<>=~]", each)[0].lower() for each in required} <= listed.keys()
    assert "file:" not in file.read_text()  # nor any other trace of the machine


@marked(slow)
@pytest.mark.parametrize("minor", range(SUPPORTED["Python"].oldest[1], SUPPORTED["Python"].newest[1] + 1))
def test_pins_can_be_installed_with_each_python_without_compiling(minor: int, tmp_path: Path) -> None:
    uv(
        "pip", "install", "--quiet", "--dry-run", "--require-hashes", "--only-binary=:all:", "--target", str(tmp_path),
        f"--python-version=3.{minor}", "--python-platform=x86_64-manylinux_2_36", "--python", sys.executable,
        "--requirement", str(ROOT / "requirements.txt"),
    )  # fmt: skip


@marked(slow)
@pytest.mark.postgres
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


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository that could be released as 0.2.0."""
    (tmp_path / "docs/contract").mkdir(parents=True)
    (tmp_path / "docs/contract/v0.1.0.json").write_text("{}")
    (tmp_path / "docs/upgrading.md").write_text("# Upgrading\n\n## Releases\n\n### Unreleased\n\n- A step.\n")
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n## [Unreleased]\n\n- Something.\n\n## [0.1.0] - 2026-11-22\n\n- All.\n"
    )
    for arguments in (
        ["init", "--quiet", "--initial-branch=main"],
        ["add", "."],
        ["commit", "--quiet", "--message=Begin"],
    ):
        git(tmp_path, "-c", "user.name=Test", "-c", "user.email=test@example.com", *arguments)
    return tmp_path


@pytest.mark.parametrize("version", ["0.1.1", "0.2.0", "1.0.0"])
def test_next_version_can_be_released(root: Path, version: str) -> None:
    assert checks.problems(root, version) == []


@pytest.mark.parametrize(
    "version", ["0.1.0", "0.3.0", "0.0.9", "0.1.2", "2.0.0", "1.1.0", "v0.2.0", "0.2", "0.02.0", ""]
)
def test_other_versions_can_not(root: Path, version: str) -> None:
    (problem,) = checks.problems(root, version)
    assert problem.endswith("can't follow 0.1.0, the last that was recorded: use 0.1.1, 0.2.0, 1.0.0.")


def test_release_begins_on_a_clean_main_with_changes_to_tell(root: Path) -> None:
    git(root, "tag", "v0.2.0")
    git(root, "checkout", "--quiet", "-b", "other")
    (root / "CHANGELOG.md").write_text(
        "# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-11-22\n\n- All.\n"
    )
    (root / "new").touch()
    assert checks.problems(root, "0.2.0") == [
        "The tag v0.2.0 exists already, and a tag never moves.",
        "Releases are made on main, not on other.",
        "The tree has changes that aren't committed:\nM CHANGELOG.md\n?? new",
        "CHANGELOG.md names nothing under [Unreleased].",
    ]


def test_sections_of_what_is_unreleased_get_version_and_date(root: Path) -> None:
    for version in ("0.2.0", "0.2.1"):
        notes.date(root, version, date(2026, 12, 1))
    changelog, upgrading = (root / "CHANGELOG.md").read_text(), (root / "docs/upgrading.md").read_text()
    assert re.findall(r"^## .*", changelog, re.MULTILINE) == [
        "## [Unreleased]", "## [0.2.1] - 2026-12-01", "## [0.2.0] - 2026-12-01", "## [0.1.0] - 2026-11-22"
    ]  # fmt: skip
    assert "## [0.2.0] - 2026-12-01\n\n- Something." in changelog
    assert (
        "### 0.2.1 (1 December 2026)\n\nNothing beyond the steps above.\n\n### 0.2.0 (1 December 2026)\n\n- A step."
        in upgrading
    )


def test_version_is_the_same_everywhere() -> None:
    assert len(set(numbers.read(ROOT).values())) == 1
