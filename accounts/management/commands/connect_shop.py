"""`manage.py connect_shop`: a connection for shop software, as **Connect** in the administration makes it."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.services import shops
from common.errors import ServiceError


class Command(BaseCommand):
    help = "Connects shop software. Prints its key and its secret, which are shown once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="what people know the shop software by: 1 to 100 characters")
        parser.add_argument("--commands", metavar="URL", default="", help="where apps' writes are sent")
        parser.add_argument("--sign-in", metavar="URL", default="", help="where people sign in to the shop")
        parser.add_argument("--test", action="store_true", help="its stores are sandboxes")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, name: str, **options: Any) -> None:
        try:
            made = shops.connect(
                name=name,
                commands_url=options["commands"],
                sign_in_url=options["sign_in"],
                is_test=options["test"],
            )
        except ServiceError as error:
            raise CommandError(error.wire_message) from error
        if options["json"]:
            record = {
                "id": str(made.system.pk),
                "name": made.system.name,
                "key": made.key,
                "secret": made.secret,
                "isTest": made.system.is_test,
            }
            self.stdout.write(json.dumps(record))
        else:
            self.stdout.write(f"key: {made.key}\nsecret: {made.secret}")
