"""Lets `collectstatic` make the packages, so that web servers have nothing to build."""

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

from developers.sdks.packages import FOLDER, PACKAGES


class SdkFinder(BaseFinder):
    def check(self, **kwargs: Any) -> list[Any]:
        return []

    def find(self, path: str, find_all: bool = False) -> Any:
        """Nothing: pages link to `/sdk/`, not to the static files."""
        return []

    def list(self, ignore_patterns: Any) -> Iterator[tuple[str, FileSystemStorage]]:
        storage = FileSystemStorage(settings.VAR_DIR / FOLDER)
        storage.prefix = FOLDER  # type: ignore[attr-defined]  # as Django's own finders do
        for package in PACKAGES.values():
            package.made()
            yield package.path.removeprefix(f"{FOLDER}/"), storage
