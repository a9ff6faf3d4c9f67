"""Files with secrets are never readable by others, and never half written."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.sample_app.files import append_private, write_private


@pytest.fixture(autouse=True)
def _generous_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_new_files_are_private(tmp_path: Path) -> None:
    write_private(tmp_path / "a" / "whole", "text\n")
    append_private(tmp_path / "b" / "lines", "one")
    append_private(tmp_path / "b" / "lines", "two")
    assert (tmp_path / "b" / "lines").read_text() == "one\ntwo\n"
    assert mode(tmp_path / "a" / "whole") == mode(tmp_path / "b" / "lines") == 0o600


def test_failed_write_leaves_the_old_content_and_no_rubbish(tmp_path: Path) -> None:
    path = tmp_path / "state"
    write_private(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_private(path, "\ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
