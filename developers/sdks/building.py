"""Makes a wheel and npm's tarballs of the SDKs' sources. The same source gives the same bytes on every machine."""

import gzip
import json
import os
import tarfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from flit_core.wheel import WheelBuilder

# The first moment that a ZIP file can name; files in npm's tarballs have a time as fixed as this one.
NO_TIME = (1980, 1, 1, 0, 0, 0)
NPM_TIME = 499162500  # of `npm pack`: 26 Oct 1985
# What npm puts into a package whatever its "files" say.
ALWAYS = ("LICENSE", "README.md", "package.json")


@dataclass(frozen=True, slots=True)
class Built:
    name: str  # of the file
    content: bytes


def wheel(source: Path) -> Built:
    """Of a Python project that flit builds."""
    file = BytesIO()
    builder = WheelBuilder.from_ini_path(source / "pyproject.toml", file)
    builder.source_time_stamp = NO_TIME
    builder.build()
    return Built(builder.wheel_filename, file.getvalue())


def tarball(source: Path) -> Built:
    """Of an npm package, as `npm pack` makes it: the files that package.json names, below `package/`."""
    about = json.loads((source / "package.json").read_text())
    patterns = [*ALWAYS, *about["files"]]
    files = sorted({file for pattern in patterns for file in source.glob(pattern) if file.is_file()})
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for file in files:
            member = tarfile.TarInfo(f"package/{file.relative_to(source).as_posix()}")
            member.size, member.mode, member.mtime = file.stat().st_size, 0o644, NPM_TIME
            with file.open("rb") as content:
                archive.addfile(member, content)
    return Built(f"{about['name']}-{about['version']}.tgz", gzip.compress(packed.getvalue(), mtime=0))


def replace(file: Path, content: bytes) -> None:
    """Write a file whole or not at all, also where two processes do it at once."""
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_suffix(f".{os.getpid()}")
    draft.write_bytes(content)
    draft.replace(file)
