"""A release that a soak or an upgrade begins with runs with the packages that it was released with."""

import os
import sys
from pathlib import Path

import idna
import pytest

from tools.released_tree import ROOT, interpreter
from tools.soak.site import Member

OLDER = "3.9"
PROJECT = '[project]\nname = "old"\nversion = "1"\ndependencies = ["idna"]\n'
# As a release has one: `serve`, `work` and `schedule`.
MANAGE = "import idna, sys; print(sys.argv[1], idna.__version__)\n"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a release with an older package than ours."""
    folder = tmp_path_factory.mktemp("release")
    (folder / "config/management/commands").mkdir(parents=True)
    (folder / "config/management/commands/serve.py").touch()
    (folder / "pyproject.toml").write_text(PROJECT)
    (folder / "constraints.txt").write_text(f"idna=={OLDER}\n")
    (folder / "manage.py").write_text(MANAGE)
    return folder


@pytest.mark.slow  # installs it, the first time
def test_processes_of_a_release_have_its_own_packages(tree: Path, tmp_path: Path) -> None:
    assert idna.__version__ != OLDER
    for name, command in (("web1", "serve"), ("worker1", "work"), ("beat", "schedule")):
        member = Member(name, tmp_path, tree)
        member.start(dict(os.environ))
        assert member.process
        assert member.process.wait(60) == 0, member.log.read_text()
        assert member.log.read_text() == f"{command} {OLDER}\n"


@pytest.mark.slow
def test_environment_of_a_release_is_made_once(tree: Path) -> None:
    first = Path(interpreter(tree))
    made = first.with_name("python").lstat().st_mtime_ns
    assert Path(interpreter(tree)) == first
    assert first.lstat().st_mtime_ns == made
    assert interpreter(ROOT) == sys.executable
