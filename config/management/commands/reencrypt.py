"""`manage.py reencrypt`: encrypts all stored secrets with the newest key (docs/operations-run.md, "Changing secrets")."""

from typing import Any

from cryptography.fernet import InvalidToken
from django.core.management.base import BaseCommand, CommandError

from config.reencryption import reencrypt


class Command(BaseCommand):
    help = (
        "Encrypts every stored secret with the first of FIELD_ENCRYPTION_KEYS. Needs the earlier keys, too."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            for kind, count in reencrypt():
                self.stdout.write(f"{kind}: {count} now have the newest key.")
        except InvalidToken as error:
            raise CommandError(
                "A stored secret was encrypted with a key that is missing. Add every earlier key to FIELD_ENCRYPTION_KEYS, "
                "behind the new one, and run this again."
            ) from error
