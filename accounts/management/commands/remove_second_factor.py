"""`manage.py remove_second_factor`: for an administrator who has lost phone, passkeys and recovery codes."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User
from accounts.services import second_factor


class Command(BaseCommand):
    help = "Removes a person's authenticator app, passkeys and recovery codes. The person gets a mail."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email")

    def handle(self, *args: Any, email: str, **options: Any) -> None:
        user = User.objects.with_email(email)
        if user is None:
            raise CommandError(f"No account has the address {email}.")
        if not second_factor.remove(user=user):
            raise CommandError(f"{user.email} has no second factor.")
        self.stdout.write(f"Removed the second factor of {user.email}.")
