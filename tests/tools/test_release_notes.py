"""What `make release` asks before it begins, and what it writes into the documents."""

import re
from datetime import date
from pathlib import Path

import pytest
from packaging.version import Version

from developers.sdks.packages import npm_version
from tests.release.making import ROOT, git
from tools import contract_changes
from tools.contract_changes import FOLDER
from tools.release import checks, notes, numbers


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
    (version,) = {written.replace("-dev.", ".dev") for written in numbers.read(ROOT).values()}
    assert set(numbers.read(ROOT).values()) <= {version, npm_version(version)}


def test_between_releases_it_is_a_development_version_after_the_newest_one() -> None:
    """What isn't released must not call itself by the name of a release."""
    version, newest = Version(numbers.read(ROOT)["pyproject.toml"]), contract_changes.newest(FOLDER)
    is_released = bool(notes.problems(ROOT))  # nothing is unreleased
    assert version.is_devrelease is not is_released
    assert version == Version(newest) if is_released else version > Version(newest)


@pytest.mark.parametrize(
    ("version", "following"), [("0.2.0", "0.3.0"), ("1.0.0", "1.1.0"), ("1.0.1", "1.1.0")]
)
def test_development_version_comes_before_the_next_release_and_after_this_one(
    version: str, following: str, tmp_path: Path
) -> None:
    for name in numbers.FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text())
    numbers.write(tmp_path, numbers.development(version))
    written = numbers.read(tmp_path)
    assert set(written.values()) == {f"{following}.dev0", f"{following}-dev.0"}
    assert {Version(each) for each in written.values()} == {Version(f"{following}.dev0")}
    assert Version(version) < Version(f"{following}.dev0") < Version(following)
    numbers.write(tmp_path, following)
    assert set(numbers.read(tmp_path).values()) == {following}
