"""`manage.py storage`: whether pictures and exports can be kept."""

from argparse import ArgumentParser
from typing import Any
from uuid import uuid4

from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.core.management.base import BaseCommand, CommandError

from common.errors import Unavailable

CHECKED = ("default", "exports")


class Command(BaseCommand):
    help = "Writes, reads and deletes a file where MEDIA_STORAGE_URL says. With --create it makes a missing bucket first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--create", action="store_true", help="make the bucket if it is missing")

    def handle(self, *args: Any, create: bool, **options: Any) -> None:
        try:
            for name in CHECKED:
                storage = storages[name]
                if create and hasattr(storage, "create_bucket"):
                    storage.create_bucket()
                self._check(storage)
        except (Unavailable, OSError) as error:
            raise CommandError(f"Files can't be kept: {error.__cause__ or error}") from error
        self.stdout.write("Files can be written, read and deleted.")

    def _check(self, storage: Any) -> None:
        content = uuid4().bytes
        name = storage.save(f"check/{uuid4()}", ContentFile(content))
        try:
            with storage.open(name) as file:
                if file.read() != content:
                    raise CommandError(f"{name} was read with another content than it was written with.")
        finally:
            storage.delete(name)
