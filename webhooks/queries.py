"""Reading webhooks, and the one rule of who may be sent what."""

from common.errors import NotFound
from common.ids import parse_id
from installations.models import Installation
from webhooks import catalogue
from webhooks.models import Webhook, WebhookQuerySet


def webhooks_of(installation: Installation) -> WebhookQuerySet:
    """All that the app has not deleted, the inactive ones too, newest first. Their secrets are not read."""
    return Webhook.objects.kept().filter(installation=installation).defer("secret").order_by("-id")


def webhook_of(installation: Installation, webhook_id: object) -> Webhook:
    """The installation's webhook with this id. Raises NotFound for another's, a deleted one, or no id at all."""
    known_id = parse_id(webhook_id)
    webhook = known_id and Webhook.objects.kept().filter(installation=installation, id=known_id).first()
    if not webhook:
        raise NotFound("Webhook not found")
    return webhook


def events_of(webhook: Webhook, installation: Installation) -> list[str]:
    """The events that a webhook is registered for now.

    The app-defined one goes by its app as long as nobody gave it a list of its own. `installation` is the
    webhook's, read by `Installation.objects.with_app()`.
    """
    return webhook.events or events_of_app(installation)


def events_of_app(installation: Installation) -> list[str]:
    """What the app-defined webhook is sent: the app's `webhookEvents`, or all that the scopes allow now."""
    return installation.app.webhook_events or catalogue.allowed_by(installation.effective_scopes)


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


def must_wait(webhook: Webhook) -> bool:
    """Whether what may not be sent to this webhook is held for it, since it was disabled automatically."""
    return webhook.disabled_at is not None and webhook.deleted_at is None and webhook.installation.is_active
