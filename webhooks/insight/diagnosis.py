"""Explains failed attempts to the developer of the endpoint: the symptom, the usual cause and the fix; and the state of a delivery in one line."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from common.http.transport import TIMEOUT
from webhooks.catalogue import CUSTOMER_ERASURE, DATA_ERASURE
from webhooks.enums import DeliveryStatus, HeldReason
from webhooks.models import Attempt, Delivery
from webhooks.queries import DeliveryRow


@dataclass(frozen=True, slots=True)
class Diagnosis:
    seen: str  # continues "Failing: "
    cause: str
    fix: str
    may_be_signature: bool = False  # the page then links to the signature checker


def diagnose(http_status: int | None, error_class: str) -> Diagnosis | None:
    """The diagnosis of one attempt, by its HTTP status or else its error class. None for a success."""
    if not error_class:
        return None
    if http_status is not None:
        return _answered(http_status)
    return _UNANSWERED.get(error_class) or Diagnosis(
        f"the attempt ended with {error_class}",
        "Your endpoint sent no response.",
        "Check your server's log around the time of the attempt.",
    )


def in_short(http_status: int | None, error_class: str) -> str:
    """One or two words for a narrow column: the status, or why there was no response."""
    return str(http_status) if http_status is not None else _SHORT.get(error_class, error_class)


def _answered(status: int) -> Diagnosis:
    cause, fix, may_be_signature = _OF_STATUS.get(status) or _OF_HUNDRED.get(status // 100) or _STRANGE
    return Diagnosis(f"your endpoint returned {status}", cause, fix, may_be_signature)


_Advice = tuple[str, str, bool]  # cause, fix, whether it may be the signature

_SIGNATURE: Final[_Advice] = (
    "Usually its signature check fails because it hashes a re-serialized body instead of the raw bytes, or because it uses another webhook's secret.",
    "Check a signature below, and hash the raw bytes of the body before you parse it.",
    True,
)
_WRONG_PLACE: Final[_Advice] = (
    "Your server accepts no POST requests at this path.",
    "Compare the URL, including its trailing slash, with your server's routes, and allow POST on the route.",
    False,
)
_DOWN: Final[_Advice] = (
    "A proxy in front of your server answered because it couldn't reach your server, or your server was too slow or too busy.",
    "Check that your server is running and that the proxy points to it.",
    False,
)

_OF_STATUS: Final[Mapping[int, _Advice]] = {
    400: (
        "Your endpoint treated the request as malformed. Some libraries answer 400 when the signature check fails.",
        "Read the response, then check a signature below.",
        True,
    ),
    401: _SIGNATURE,
    403: (
        "Its signature check fails, or something in front of it (a firewall, CSRF protection or an address list) refuses requests without a session.",
        "Exempt this path from CSRF checks and sign-in, and check a signature below.",
        True,
    ),
    404: _WRONG_PLACE,
    405: _WRONG_PLACE,
    408: (
        "Your server gave up waiting for the request.",
        "Read the body right away, and check whether a proxy on your side delays it.",
        False,
    ),
    410: (
        "410 means that the endpoint is gone for good. A second one some time later disables the webhook.",
        "Answer 2xx again, or delete the webhook.",
        False,
    ),
    413: (
        "Your server, or a proxy in front of it, only accepts smaller bodies.",
        "Raise the limit for this path to 1 MiB (client_max_body_size in nginx).",
        False,
    ),
    415: (
        "Your endpoint doesn't accept application/json.",
        "Allow Content-Type: application/json on this path.",
        False,
    ),
    429: (
        "Your endpoint, or a proxy in front of it, limits how often it is called. We wait as long as Retry-After asks, up to twice the usual wait.",
        "Exempt deliveries from that limit: queue each one and answer at once.",
        False,
    ),
    502: _DOWN,
    503: _DOWN,
    504: _DOWN,
}

_OF_HUNDRED: Final[Mapping[int, _Advice]] = {
    3: (
        "It redirected us. We don't follow redirects, so that your events can't be sent to another server.",
        "Register the final URL. Usual causes: http instead of https, a missing or extra trailing slash, www.",
        False,
    ),
    4: (
        "Your endpoint refused the request.",
        "Read the response below, and check your server's log at that time.",
        False,
    ),
    5: (
        "Your server failed while it handled the request.",
        "Look for the exception in its log at that time. Answer 2xx as soon as you have stored the event, and do the work afterwards.",
        False,
    ),
}

_STRANGE: Final[_Advice] = (
    "This is not a valid HTTP response status.",
    "Answer 2xx when you have stored the event.",
    False,
)

_UNANSWERED: Final[Mapping[str, Diagnosis]] = {
    "dns": Diagnosis(
        "the host's name was not found",
        "The name in the URL has no address, or its name server did not answer in time.",
        "Look it up from outside your network (dig, nslookup), check the URL for typos, and write letters beyond ASCII in the form xn--….",
    ),
    "refused": Diagnosis(
        "the connection was refused",
        "The host exists, but nothing listens on that port, or a firewall rejected us.",
        "Start the server, check the port in the URL, and open the port in the firewall.",
    ),
    "reset": Diagnosis(
        "the connection broke before a response arrived",
        "Your server or a proxy closed the connection early: a crash, a restart or a limit.",
        "Check the logs of both at that time.",
    ),
    "tls": Diagnosis(
        "the TLS certificate was not accepted",
        "It has expired, it was issued for another name, an intermediate certificate is missing, or it is self-signed.",
        "Check it with the command below. Serve the full chain for exactly this host name, and renew it automatically.",
    ),
    "timeout_connect": Diagnosis(
        f"no connection within {TIMEOUT:g} seconds",
        "The host didn't respond at all. Usual causes: a firewall that drops packets, or a wrong address.",
        "Check that the host can be reached from the internet on that port.",
    ),
    "timeout_response": Diagnosis(
        f"no response within {TIMEOUT:g} seconds",
        "Your server received the request but didn't respond in time. A later response doesn't count, even if your log shows 200.",
        "Store the event and answer 2xx at once. Do the work afterwards.",
    ),
    "blocked_address": Diagnosis(
        "the host has an address that is not public",
        "Its name resolves to a private, loopback or otherwise reserved address. We never send to those.",
        "Use a public address. For your own machine, use a tunnel with a public name.",
    ),
    "protocol": Diagnosis(
        "the response was not HTTP",
        "Another service listens on that port, or the server there expects plain HTTP instead of HTTPS.",
        "Check the scheme and the port of the URL.",
    ),
}

_SHORT: Final[Mapping[str, str]] = {
    "dns": "No DNS",
    "refused": "Refused",
    "reset": "Reset",
    "tls": "TLS",
    "timeout_connect": "Timeout",
    "timeout_response": "Timeout",
    "blocked_address": "Blocked",
    "protocol": "No HTTP",
}


# --- A delivery in one line --------------------------------------------------------------------------


def headline(delivery: Delivery, last: Attempt | DeliveryRow | None) -> str:
    """The state in one line: "Failing: your endpoint returned 401"."""
    diagnosis = last and diagnose(last.http_status, last.error_class)
    seen = f": {diagnosis.seen}" if diagnosis else ""
    match delivery.status:
        case DeliveryStatus.SUCCEEDED:
            return f"Delivered: your endpoint returned {last.http_status}" if last else "Delivered"
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
