import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deploy.isolation import ROOT, USER, environment


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """VAR_DIR as the image has it: static files, owned by its user."""
    if os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "true"], check=False).returncode != 0:
        pytest.skip("makes mount namespaces, which isn't allowed here")
    folder = tmp_path_factory.mktemp("image")
    run = [sys.executable, "manage.py", "collectstatic", "--noinput", "--verbosity=0"]
    subprocess.run(run, cwd=ROOT, env=environment() | {"VAR_DIR": str(folder)}, check=True)
    for path in (folder, *folder.rglob("*")):
        os.chown(path, int(USER), int(USER))
    return folder
