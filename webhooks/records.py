"""The shapes of webhooks on the wire (contract section 5)."""

from typing import Any

from common.times import iso, iso_or_none
from installations.models import Installation
from webhooks import catalogue
from webhooks.models import Webhook


def webhook_record(webhook: Webhook, installation: Installation) -> dict[str, Any]:
    """A webhook on the wire. Never holds the secret: only the answer to its creation adds that.

    `installation` is the webhook's, read by `Installation.objects.with_app()`.
    """
    return {
        "id": str(webhook.id),
        "url": webhook.url,
        "events": webhook.events,
        "description": webhook.description or None,
        "isActive": webhook.is_active,
        "isAppDefined": webhook.is_app_defined,
        "eventsWithoutScope": catalogue.without_scope(webhook.events, installation.effective_scopes),
        "disabledReason": webhook.disabled_reason or None,
        "disabledAt": iso_or_none(webhook.disabled_at),
        "createdAt": iso(webhook.created_at),
    }
