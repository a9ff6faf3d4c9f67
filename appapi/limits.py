"""One allowance per installation for everything that its token opens: `/app-api` and `/webhooks` together."""

from django.http import HttpRequest

from common.clients import client_network
from common.rate_limits import RateState, consume
from installations.models import Installation

REQUESTS_A_MINUTE = 60
ROOTS = ("/app-api", "/webhooks")

_COUNTED = "appapi.rate_state"  # in the request's environ, where a client's headers can't reach


def covers(path: str) -> bool:
    """Whether the allowance, and so the rate headers, apply to a path."""
    return any(path == root or path.startswith(root + "/") for root in ROOTS)


def count(request: HttpRequest, installation: Installation | None) -> RateState:
    """Count a request, once: against its installation, or against its address when no token is valid."""
    who = f"installation:{installation.pk}" if installation else f"address:{client_network(request)}"
    state = consume(f"app-api:{who}", limit=REQUESTS_A_MINUTE)
    request.META[_COUNTED] = state
    return state


def state_of(request: HttpRequest) -> RateState:
    """Where the request's allowance stands. One that no view counted is counted by address now."""
    return request.META.get(_COUNTED) or count(request, None)
