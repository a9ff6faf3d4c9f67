"""`manage.py try_app`: installs a listed app in a store of a connection for tests, as its owner would."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from accounts.models import ConnectedStore
from installations.services.lifecycle import Terms, install
from marketplace.models import App

SHOWN = 20  # slugs, where one is wrong


class Command(BaseCommand):
    help = (
        "Installs a listed app in a store of a connection for tests, with all its scopes. Prints the access token and the "
        "webhook secret, which are shown once."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("connection", help="the name of the connection")
        parser.add_argument("store", help="the store's id in the shop software")
        parser.add_argument("app", help="the app's slug")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, connection: str, store: str, app: str, **options: Any) -> None:
        stores = ConnectedStore.objects.standing().select_related("business__owner", "system")
        found = stores.filter(system__name=connection, system__ended_at=None, external_id=store).first()
        if found is None:
            raise CommandError(f"There is no store {store} of {connection}.")
        if not found.system.is_test:
            raise CommandError(f"{connection} is not for tests. Its merchants install apps themselves.")
        listed = App.objects.listed().select_related("approved_version").filter(slug=app).first()
        if listed is None or listed.approved_version is None:
            slugs = ", ".join(App.objects.listed().order_by("slug").values_list("slug", flat=True)[:SHOWN])
            raise CommandError(f"There is no app {app} in the marketplace. Listed are: {slugs or 'none'}.")
        version = listed.approved_version
        terms = Terms(is_test=True, granted_scopes=version.scopes, agreed_version=version)
        issued = install(
            app=listed,
            business=found.business,
            installed_by=found.business.owner,
            terms=terms,
            now=timezone.now(),
        )
        record = {
            "installationId": str(issued.installation.pk),
            "accessToken": issued.access_token,
            "webhookSecret": issued.webhook_secret,
        }
        if options["json"]:
            self.stdout.write(json.dumps(record))
        else:
            self.stdout.write(f"token: {issued.access_token}\nsecret: {issued.webhook_secret}")
