"""Values of extensions that are stored or sent."""

from typing import Final

from django.db import models


class ExtensionType(models.TextChoices):
    """The manifest's four lists of definitions, by their names in `changes`."""

    BLOCK = "block", "Block"
    EMBED = "embed", "Embed"
    HOOK = "hook", "Hook"
    ADMIN_PAGE = "adminPage", "Admin page"


class EmbedKind(models.TextChoices):
    GLOBAL_SCRIPT = "GLOBAL_SCRIPT", "Script on every page"
    FLOATING_WIDGET = "FLOATING_WIDGET", "Floating widget"


class CallOutcome(models.TextChoices):
    """The outcome of one hook call. Every value but the first counts as a failure of the hook."""

    ANSWERED = "ANSWERED", "Answered"
    TIMEOUT = "TIMEOUT", "No answer in time"
    UNREACHABLE = "UNREACHABLE", "Not reached"
    HTTP_ERROR = "HTTP_ERROR", "Answered with an error"
    NOT_JSON = "NOT_JSON", "Answer was not JSON"
    UNEXPECTED = "UNEXPECTED", "Answer had the wrong format"
    BREAKER_OPEN = "BREAKER_OPEN", "Skipped after failures in a row"
    NO_TIME_LEFT = "NO_TIME_LEFT", "Skipped, no time was left"


SKIPPED: Final = (CallOutcome.BREAKER_OPEN, CallOutcome.NO_TIME_LEFT)


class ShopCommandName(models.TextChoices):
    SET_STATUS = "order.set_status", "Change an order's status"
    CREATE_ORDER = "order.create", "Place an order"
    SET_PAYMENT = "payment.set_status", "Tell a payment's status"


class CommandOutcome(models.TextChoices):
    """What became of a command to a shop. One that stays SENT was cut short with its process."""

    SENT = "SENT", "Sent"
    DONE = "DONE", "Done"
    REFUSED = "REFUSED", "Refused by the shop"
    UNREACHABLE = "UNREACHABLE", "No usable answer"
    NO_PLACE = "NO_PLACE", "Not sent, too many were waiting"
