"""The files of a release: what `dist/` holds."""

import os
import shutil
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

from developers.sdks.packages import tarball, wheel
from tools.release.git import git
from tools.uv import uv

NAME = "extension-platform"
SUMS = "SHA256SUMS"


def build(tree: Path, tag: str, folder: Path) -> None:
    """From the commit of the tree: its archive, the packages of the SDKs, a bill of materials, and the sums of all."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    archive(tree, tag, folder / f"{NAME}-{tag}.tar.gz")
    sdks(tree, folder)
    materials(tree, folder / f"{NAME}-{tag}.cdx.json")
    files = sorted(folder.iterdir())
    (folder / SUMS).write_text("".join(f"{digest(file)}  {file.name}\n" for file in files))


def archive(tree: Path, tag: str, file: Path) -> None:
    """All tracked files, below a folder with the release's name. The same commit gives the same bytes."""
    git(tree, "archive", f"--prefix={NAME}-{tag}/", f"--output={file}", "HEAD")


def sdks(tree: Path, folder: Path) -> None:
    """A wheel each for apps and for shops, and a package for npm each for servers and for pages: what an installation serves under `/sdk/`.

    Earlier releases lack some.
    """
    sources = ("python", wheel), ("store-python", wheel), ("node", tarball), ("js", tarball)
    for name, pack in sources:
        if (source := tree / "sdk" / name).exists():
            built = pack(source)
            (folder / built.name).write_bytes(built.content)


def materials(tree: Path, file: Path) -> None:
    """CycloneDX, of an environment that is installed as the guides say: from `requirements.txt`, by its hashes."""
    with tempfile.TemporaryDirectory() as temporary:
        environment = Path(temporary) / "environment"
        uv("venv", "--quiet", "--python", sys.executable, str(environment))
        uv(
            "pip", "install", "--quiet", "--require-hashes", "--requirement", str(tree / "requirements.txt"),
            VIRTUAL_ENV=str(environment),
        )  # fmt: skip
        command = [
            sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible", "--output-format", "JSON",
            "--pyproject", str(tree / "pyproject.toml"), "--output-file", str(file), str(environment / "bin" / "python"),
        ]  # fmt: skip
        subprocess.run(command, check=True, env=os.environ)


def digest(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()
