"""`make lint` notices a guide that names a release without a tag."""

import subprocess
from pathlib import Path

import pytest

from tools import named_releases
from tools.named_releases import ROOT, recorded, tags_here, unknown

TEXT = """Install `v0.2.0`, then v0.3.0. Not meant: docs/contract/v0.4.0.json, pgbouncer:v1.25.1-p0, contract-v0.5.0.

### 0.6.0 (1 May 2027)
### 0.7.0, which was never tagged
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with the tag v0.2.0."""
    (tmp_path / "docs/contract").mkdir(parents=True)
    (tmp_path / "docs/upgrading.md").write_text(TEXT)
    for name in ("v0.1.0", "v0.2.0"):
        (tmp_path / f"docs/contract/{name}.json").write_text("{}")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "Begin")
    git(tmp_path, "tag", "v0.2.0")
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True)


def test_release_without_a_tag_is_named_with_its_line(root: Path) -> None:
    tags = tags_here(root)
    assert tags == {"v0.2.0"}
    found = [problem.split(" has ")[0] for problem in unknown(root, tags)]
    assert found == ["docs/upgrading.md:1: v0.3.0", "docs/upgrading.md:3: v0.6.0"]


def test_clone_without_tags_knows_the_recorded_releases(
    root: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    clones = tmp_path_factory.mktemp("clones")
    git(clones, "clone", "--quiet", "--no-tags", str(root), "without-tags")
    git(clones, "clone", "--quiet", "--depth=1", root.as_uri(), "shallow")
    for clone in ("without-tags", "shallow"):
        assert tags_here(clones / clone) is None
    monkeypatch.setattr(named_releases, "ROOT", clones / "shallow")
    assert named_releases.main() == 1
    printed = capsys.readouterr().out
    assert printed.startswith("This clone lacks the tags")
    assert "v0.3.0" in printed
    assert "v0.2.0" not in printed


def test_release_that_was_recorded_and_never_tagged_is_none(root: Path) -> None:
    assert recorded(root) == {"v0.2.0"}


def test_guides_name_only_releases_that_exist() -> None:
    """Those that were recorded, wherever the tags are; `make lint` looks at the tags."""
    assert list(unknown(ROOT, recorded(ROOT))) == []
