from webhooks.models.deliveries import Attempt, DailyDeliveryCount, Delivery, Event
from webhooks.models.erasures import Erasure
from webhooks.models.webhooks import DispatcherSlot, Endpoint, Inbox, InboxEntry, Webhook, WebhookQuerySet
