"""Reading webhooks, and the one rule of who may be sent what."""

from common.errors import NotFound
from common.ids import parse_id
from installations.models import Installation
from webhooks import catalogue
from webhooks.models import Webhook


def webhook_of(installation: Installation, webhook_id: object) -> Webhook:
    """The installation's webhook with this id. Raises NotFound for another's, a deleted one, or no id at all."""
    known_id = parse_id(webhook_id)
    webhook = known_id and Webhook.objects.kept().filter(installation=installation, id=known_id).first()
    if not webhook:
        raise NotFound("Webhook not found")
    return webhook


def may_learn_of(installation: Installation, event_type: str) -> bool:
    """Whether the installation's app may be told of this event now.

    It must still be installed, its app neither suspended nor deleted, and it must hold the event's scope.
    Reads what `Installation.objects.with_app()` brings.
    """
    app = installation.app
    if not installation.is_active or app.suspended_at is not None or app.deleted_at is not None:
        return False
    scope = catalogue.EVENTS[event_type].scope
    return scope is None or scope in installation.effective_scopes


def may_receive(webhook: Webhook, event_type: str) -> bool:
    """Whether this event may be sent to this webhook now."""
    if not webhook.is_active or webhook.deleted_at is not None:
        return False
    return may_learn_of(webhook.installation, event_type)
