"""The rate limit of an installation, shared by `/app-api` and `/webhooks`."""

from django.http import HttpRequest

from common.web.limits.client_address import client_network
from common.web.limits.rate_limits import RateState, consume
from installations.limits import REQUESTS_A_MINUTE
from installations.models import Installation

ROOTS = ("/app-api", "/webhooks")

_COUNTED = "appapi.rate_state"  # in the request's environ, where a client's headers can't reach


def covers(path: str) -> bool:
    """Whether the rate limit and its headers apply to a path."""
    return any(path == root or path.startswith(root + "/") for root in ROOTS)


def count(request: HttpRequest, installation: Installation | None) -> RateState:
    """Count a request for its installation, or for its network if it has no valid token. Call it once."""
    who = f"installation:{installation.pk}" if installation else f"address:{client_network(request)}"
    state = consume(f"app-api:{who}", limit=REQUESTS_A_MINUTE)
    request.META[_COUNTED] = state
    return state


def state_of(request: HttpRequest) -> RateState:
    """The state of the rate limit. A request that no view counted is counted for its network now."""
    return request.META.get(_COUNTED) or count(request, None)
