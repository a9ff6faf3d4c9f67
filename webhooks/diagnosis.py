"""What a failed attempt means, in words for the developer of the endpoint. A table; nothing here reads anything.

Each entry says what was seen, what is usually behind it, and what to do about it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Diagnosis:
    seen: str  # goes on from "Failing: "
    cause: str
    fix: str
    may_be_signature: bool = False  # worth a look at the signature bench


def diagnose(http_status: int | None, error_class: str) -> Diagnosis | None:
    """The diagnosis of one attempt; None for a success.

    The status decides where there was an answer, as it decided over success; else the class of the error does.
    """
    if not error_class:
        return None
    if http_status is not None:
        return _answered(http_status)
    return _UNANSWERED.get(error_class) or Diagnosis(
        f"the attempt ended with {error_class}",
        "No answer came from your endpoint.",
        "Look at your server's log around the time of the attempt.",
    )


def in_short(http_status: int | None, error_class: str) -> str:
    """A word or two for a narrow column: the status, or what kept an answer from coming."""
    return str(http_status) if http_status is not None else _SHORT.get(error_class, error_class)


def _answered(status: int) -> Diagnosis:
    cause, fix, may_be_signature = _OF_STATUS.get(status) or _OF_HUNDRED.get(status // 100) or _STRANGE
    return Diagnosis(f"your endpoint answered {status}", cause, fix, may_be_signature)


_Words = tuple[str, str, bool]

_SIGNATURE: Final[_Words] = (
    "Usually its signature check fails because it hashes the parsed body, printed anew, instead of the raw bytes; or it uses another webhook's secret.",
    "Check a signature below, and hash the bytes of the body as they came, before any parsing.",
    True,
)
_WRONG_PLACE: Final[_Words] = (
    "Nothing takes a POST at this path.",
    "Compare the URL with your server's routes, the closing slash included, and let the route take POST.",
    False,
)
_DOWN: Final[_Words] = (
    "A proxy in front of your server answered, since it found no server behind it, or one too slow or too busy.",
    "Check that your server runs and that the proxy points at it.",
    False,
)

_OF_STATUS: Final[Mapping[int, _Words]] = {
    400: (
        "Your endpoint took the request for malformed. Some libraries answer 400 when the signature check fails.",
        "Look at what it answered, then check a signature below.",
        True,
    ),
    401: _SIGNATURE,
    403: (
        "Its signature check fails, or something before it (a firewall, CSRF protection, a list of addresses) refuses requests without a session.",
        "Let this path pass without CSRF check or sign-in, and check a signature below.",
        True,
    ),
    404: _WRONG_PLACE,
    405: _WRONG_PLACE,
    408: (
        "Your server waited for the request longer than it wants to.",
        "Read the body right away, and look whether a proxy on your side holds it back.",
        False,
    ),
    410: (
        "410 says that the endpoint is gone for good. Two of them, at least ten minutes apart, switch the webhook off.",
        "Answer 2xx again, or delete the webhook.",
        False,
    ),
    413: (
        "Your server, or the proxy before it, takes smaller bodies only.",
        "Raise the limit for this path to 1 MiB (client_max_body_size in nginx).",
        False,
    ),
    415: (
        "Your endpoint does not take application/json.",
        "Let this path take Content-Type: application/json.",
        False,
    ),
    429: (
        "Your endpoint, or the proxy before it, limits how often it is called. We wait as long as Retry-After asks, up to twice the usual wait.",
        "Take deliveries out of that limit: put each into a queue and answer at once.",
        False,
    ),
    502: _DOWN,
    503: _DOWN,
    504: _DOWN,
}

_OF_HUNDRED: Final[Mapping[int, _Words]] = {
    3: (
        "It sent us to another address. We do not follow redirects, so that nobody else can be handed your events.",
        "Register the final URL. Usual causes: http instead of https, a missing or extra closing slash, www.",
        False,
    ),
    4: (
        "Your endpoint refused the request.",
        "What it answered stands below; look also at your server's log at that time.",
        False,
    ),
    5: (
        "Your server failed while it worked on the request.",
        "Look for the exception in its log at that time. Answer 2xx as soon as the event is stored, and do the work after.",
        False,
    ),
}

_STRANGE: Final[_Words] = (
    "That is no status that HTTP knows as an answer.",
    "Answer 2xx when the event is stored.",
    False,
)

_UNANSWERED: Final[Mapping[str, Diagnosis]] = {
    "dns": Diagnosis(
        "the host's name was not found",
        "The name in the URL has no address, or its name server did not answer in time.",
        "Look it up from outside your network (dig, nslookup), and check the URL for a typing error.",
    ),
    "refused": Diagnosis(
        "the connection was refused",
        "The host is there, but nothing listens at that port, or a firewall turned us away.",
        "Start the server, check the port in the URL, and open the firewall for it.",
    ),
    "reset": Diagnosis(
        "the connection broke before an answer came",
        "Your server or a proxy closed the connection in the middle: a crash, a restart, or a limit.",
        "Look at the log of both at that time.",
    ),
    "tls": Diagnosis(
        "the TLS certificate was not accepted",
        "It has expired, it is made out to another name, an intermediate certificate is missing, or it is self-signed.",
        "Check it with the command below. Serve the full chain for this very host name, and renew it automatically.",
    ),
    "timeout_connect": Diagnosis(
        "no connection within 10 seconds",
        "The host did not react at all. A firewall that drops packets looks like this, and so does a wrong address.",
        "Check that the host can be reached from the internet at that port.",
    ),
    "timeout_response": Diagnosis(
        "no answer within 10 seconds",
        "Your server took the request and did not answer in time. An answer that came later was too late, even if your log says 200.",
        "Store the event and answer 2xx at once; do the work after that.",
    ),
    "blocked_address": Diagnosis(
        "the host leads to an address that is not public",
        "Its name resolves to a private, loopback or otherwise reserved address, where we never send.",
        "Use a public address; for your own machine, a tunnel with a public name.",
    ),
    "protocol": Diagnosis(
        "the answer was not HTTP",
        "What came back could not be read as HTTP: another service listens at that port, or TLS was spoken to a plain one.",
        "Check scheme and port of the URL.",
    ),
}

_SHORT: Final[Mapping[str, str]] = {
    "dns": "No DNS",
    "refused": "Refused",
    "reset": "Broke off",
    "tls": "TLS",
    "timeout_connect": "Timeout",
    "timeout_response": "Timeout",
    "blocked_address": "Blocked",
    "protocol": "No HTTP",
}
