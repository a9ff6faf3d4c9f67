"""The packages of the SDKs: their names and places, how they are built, and their hashes."""

import json
import os
import re
import tarfile
import zipfile
import zlib
from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from hashlib import sha256, sha512
from io import BytesIO
from pathlib import Path

from django.conf import settings
from flit_core.wheel import WheelBuilder

# The first moment that a ZIP file can name; files in npm's tarballs have a time as fixed as this one.
NO_TIME = (1980, 1, 1, 0, 0, 0)
NPM_TIME = 499162500  # of `npm pack`: 26 Oct 1985
# What npm puts into a package whatever its "files" say.
ALWAYS = ("LICENSE", "README.md", "package.json")
# The head of a gzip file (RFC 1952) without flags, time or system, and the most that a stored block of it holds (RFC 1951).
GZIP_HEAD = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
LARGEST_BLOCK = 65_535
UNIX = 3  # of ZIP's numbers for systems: the one whose rights of files installers know
FOLDER = "sdk"  # below STATIC_ROOT, and of their addresses
PYTHON, NODE, BROWSER = "extension-platform-sdk", "extension-platform-node", "extension-platform-browser"
STORE = "extension-platform-store"  # of shops that are connected


@dataclass(frozen=True, slots=True)
class Package:
    name: str
    registry: str  # "python" or "node", whose tools install it
    source: Path  # below the folder `sdk`

    @property
    def file_name(self) -> str:
        if self.registry == "python":
            return f"{re.sub('[-_.]+', '_', self.name)}-{settings.VERSION}-py3-none-any.whl"
        return f"{self.name}-{npm_version(settings.VERSION)}.tgz"

    @property
    def path(self) -> str:
        return f"{FOLDER}/{self.registry}/{self.file_name}"

    @property
    def url(self) -> str:
        return f"{settings.BASE_URL}/{self.path}"

    @property
    def sha256(self) -> str:
        return sha256(self.content()).hexdigest()

    @property
    def integrity(self) -> str:
        """As npm writes it: "sha512-" and the digest in base64."""
        return "sha512-" + b64encode(sha512(self.content()).digest()).decode()

    @property
    def requirement(self) -> str:
        """What a guide gives to the installer: the address, for Python with the name and the hash that pip checks."""
        return f"{self.name} @ {self.url}#sha256={self.sha256}" if self.registry == "python" else self.url

    def content(self) -> bytes:
        """The file that `collectstatic` made; one made now where pages are served as they are found."""
        collected = Path(settings.STATIC_ROOT) / self.path
        if collected.is_file() and not settings.DEBUG:
            return _read(collected, collected.stat().st_mtime_ns)
        made = self.made()
        return _read(made, made.stat().st_mtime_ns)

    def made(self) -> Path:
        """The file, made unless it is there and newer than all of its source."""
        source, file = settings.BASE_DIR / "sdk" / self.source, Path(settings.VAR_DIR) / self.path
        newest = max(each.stat().st_mtime for each in source.rglob("*") if each.suffix != ".pyc")
        if not file.is_file() or file.stat().st_mtime < newest:
            make = wheel if self.registry == "python" else tarball
            replace(file, make(source).content)
        return file


def npm_version(version: str) -> str:
    """As npm wants it, by Semantic Versioning: `1.0.0-dev.0` for `1.0.0.dev0`."""
    return version.replace(".dev", "-dev.")


PACKAGES = {
    package.name: package
    for package in (
        Package(PYTHON, "python", Path("python")),
        Package(STORE, "python", Path("store-python")),
        Package(NODE, "node", Path("node")),
        Package(BROWSER, "node", Path("js")),
    )
}


def of_registry(registry: str) -> list[Package]:
    return [package for package in PACKAGES.values() if package.registry == registry]


@cache
def _read(file: Path, changed: int) -> bytes:
    return file.read_bytes()


# Makes a wheel and npm's tarballs of the SDKs' sources. The same source gives the same bytes on every
# machine.
#
# Lock files hold the hashes of these files. So nothing in them is compressed, since each zlib does that in
# its own way, and nothing says on which system or with which Python they were made.


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
    return Built(builder.wheel_filename, _stored_zip(file))


def tarball(source: Path) -> Built:
    """Of an npm package, as `npm pack` makes it: the files that package.json names, below `package/`."""
    about = json.loads((source / "package.json").read_text(encoding="utf-8"))
    patterns = [*ALWAYS, *about["files"]]
    files = sorted({file for pattern in patterns for file in source.glob(pattern) if file.is_file()})
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for file in files:
            member = tarfile.TarInfo(f"package/{file.relative_to(source).as_posix()}")
            member.size, member.mode, member.mtime = file.stat().st_size, 0o644, NPM_TIME
            with file.open("rb") as content:
                archive.addfile(member, content)
    return Built(f"{about['name']}-{about['version']}.tgz", _stored_gzip(packed.getvalue()))


def _stored_zip(made: BytesIO) -> bytes:
    """The same members in the same order, uncompressed."""
    stored = BytesIO()
    with zipfile.ZipFile(made) as before, zipfile.ZipFile(stored, "w") as after:
        for each in before.infolist():
            member = zipfile.ZipInfo(each.filename, NO_TIME)
            member.create_system, member.external_attr = UNIX, each.external_attr
            after.writestr(member, before.read(each))
    return stored.getvalue()


def _stored_gzip(content: bytes) -> bytes:
    blocks = [content[at : at + LARGEST_BLOCK] for at in range(0, len(content), LARGEST_BLOCK)]
    parts = [GZIP_HEAD]
    for number, block in enumerate(blocks, 1):
        size, is_last = len(block).to_bytes(2, "little"), number == len(blocks)
        parts += [bytes([is_last]), size, bytes(255 - byte for byte in size), block]
    parts += [zlib.crc32(content).to_bytes(4, "little"), len(content).to_bytes(4, "little")]
    return b"".join(parts)


def replace(file: Path, content: bytes) -> None:
    """Write a file whole or not at all, also where two processes do it at once."""
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_suffix(f".{os.getpid()}")
    draft.write_bytes(content)
    draft.replace(file)
