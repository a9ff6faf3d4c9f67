"""Deliveries as every page shows them: `{% load webhooks %}`."""

from typing import Final

from django import template
from django.utils.safestring import SafeString

from common.templatetags.ui import pill
from webhooks.enums import DeliveryStatus
from webhooks.filters.judging import words_of

register = template.Library()

# Kind, word and icon of a pill.
LOOKS: Final = {
    DeliveryStatus.SUCCEEDED: ("ok", "Delivered", ""),
    DeliveryStatus.PENDING: ("neutral", "Pending", "clock"),
    DeliveryStatus.RETRYING: ("warn", "Retrying", "rotate-cw"),
    DeliveryStatus.EXHAUSTED: ("bad", "Failed", ""),
    DeliveryStatus.HELD: ("neutral", "Held", "pause"),
    DeliveryStatus.CANCELLED: ("neutral", "Not sent", "ban"),
}


register.filter("words_of_filter", words_of)


@register.filter
def delivery_pill(status: str) -> SafeString:
    return pill(*LOOKS[DeliveryStatus(status)])
