from webhooks.models.deliveries import Attempt, DailyDeliveryCount, Delivery, Event
from webhooks.models.erasures import Erasure
from webhooks.models.inboxes import Inbox, InboxEntry
from webhooks.models.webhooks import DispatcherSlot, Endpoint, Webhook, WebhookQuerySet

__all__ = [
    "Attempt",
    "DailyDeliveryCount",
    "Delivery",
    "DispatcherSlot",
    "Endpoint",
    "Erasure",
    "Event",
    "Inbox",
    "InboxEntry",
    "Webhook",
    "WebhookQuerySet",
]
