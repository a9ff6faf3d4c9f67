"""The state of a delivery in one line."""

from webhooks.catalogue import CUSTOMER_ERASURE, DATA_ERASURE
from webhooks.enums import DeliveryStatus, HeldReason
from webhooks.insight.diagnosis import diagnose
from webhooks.models import Attempt, Delivery
from webhooks.queries import DeliveryRow


def headline(delivery: Delivery, last: Attempt | DeliveryRow | None) -> str:
    """The state in one line: "Failing: your endpoint answered 401"."""
    diagnosis = last and diagnose(last.http_status, last.error_class)
    seen = f": {diagnosis.seen}" if diagnosis else ""
    match delivery.status:
        case DeliveryStatus.SUCCEEDED:
            return f"Delivered: your endpoint answered {last.http_status}" if last else "Delivered"
        case DeliveryStatus.RETRYING:
            return f"Failing{seen}"
        case DeliveryStatus.EXHAUSTED:
            return f"Failed{seen}"
        case DeliveryStatus.HELD:
            is_paused = delivery.held_reason == HeldReason.PAUSED
            return f"Held: {'the store has paused the app' if is_paused else 'the webhook is disabled'}"
        case DeliveryStatus.CANCELLED:
            return f"Not sent: {_cancellation(delivery)}"
    return "Waiting to be resent" if last else "Waiting to be sent"


def _cancellation(delivery: Delivery) -> str:
    webhook = delivery.webhook
    if delivery.event.type == DATA_ERASURE:
        return "the app was reinstalled before it was due"
    if delivery.event.type == CUSTOMER_ERASURE and webhook.deleted_at is None:
        return "the app has no Webhook URL, or has erased all of the store’s data"
    if webhook.installation.app.suspended_at is not None:
        return "the app was suspended before it was sent"
    if not webhook.installation.is_active:
        return "the app was uninstalled before it was sent"
    if webhook.deleted_at is not None:
        return "the webhook was deleted before it was sent"
    return "the webhook was turned off before it was sent"
