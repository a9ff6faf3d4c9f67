"""What the packages are called, where they are, and their hashes."""

import re
from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from hashlib import sha256, sha512
from pathlib import Path

from django.conf import settings

from developers.sdks import building

FOLDER = "sdk"  # below STATIC_ROOT, and of their addresses
PYTHON, NODE, BROWSER = "extension-platform-sdk", "extension-platform-node", "extension-platform-browser"


@dataclass(frozen=True, slots=True)
class Package:
    name: str
    registry: str  # "python" or "node", whose tools install it
    source: Path  # below the folder `sdk`

    @property
    def file_name(self) -> str:
        if self.registry == "python":
            return f"{re.sub('[-_.]+', '_', self.name)}-{settings.VERSION}-py3-none-any.whl"
        return f"{self.name}-{settings.VERSION}.tgz"

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
            make = building.wheel if self.registry == "python" else building.tarball
            building.replace(file, make(source).content)
        return file


PACKAGES = {
    package.name: package
    for package in (
        Package(PYTHON, "python", Path("python")),
        Package(NODE, "node", Path("node")),
        Package(BROWSER, "node", Path("js")),
    )
}


def of_registry(registry: str) -> list[Package]:
    return [package for package in PACKAGES.values() if package.registry == registry]


@cache
def _read(file: Path, changed: int) -> bytes:
    return file.read_bytes()
