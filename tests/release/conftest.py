"""A release, made once for all tests here: `make release` in a fresh clone of what is committed."""

import pytest

from tests.release.making import ROOT, Released, cloned, make_release, once
from tools.contract_changes import newest
from tools.release.checks import following


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> Released:
    version = following(newest(ROOT / "docs" / "contract").removeprefix("v"))[1]
    with once(tmp_path_factory, "released") as folder:
        if not folder.exists():
            made = make_release(cloned(folder), version, "--without-digests")
            assert made.returncode == 0, made.stdout + made.stderr
    assert (folder / "dist").exists(), "The first worker could not make the release."
    return Released(folder, version)
