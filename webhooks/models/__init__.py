from webhooks.models.deliveries import Attempt, DailyDeliveryCount, Delivery, Event
from webhooks.models.erasures import Erasure
from webhooks.models.webhooks import DispatcherSlot, Endpoint, Inbox, InboxEntry, Webhook, WebhookQuerySet

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
