"""Keeps the app-defined webhook of a throwaway store at the server under test. Connected by `ConformanceConfig`."""

from datetime import datetime
from typing import Any

from django.dispatch import receiver

from conformance.models import Run
from conformance.subject import address_in_run
from installations.models import Installation
from installations.signals import installation_changed, installation_created
from webhooks.services.app_defined import lead_to


@receiver([installation_created, installation_changed])
def lead_webhook_to_run(installation: Installation, now: datetime, **_: Any) -> None:
    """After the receivers of `webhooks`, which make the webhook."""
    if installation.business.expires_at is None:
        return
    run = Run.objects.select_related("app").filter(store=installation.business).first()
    if run is not None and run.origin and installation.webhook_url:
        lead_to(installation=installation, url=address_in_run(run, installation.webhook_url), now=now)
