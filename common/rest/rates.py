"""The rate limit of an API: counts its requests, and puts the headers on every response (contract, section 0)."""

from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.module_loading import import_string

from common.errors import TooManyRequests
from common.web.client_address import client_network
from common.web.limits import RateState, consume, uncount

_COUNTED: Final = "common.rest.rate"  # in the request's environ, where a client's headers can't reach


class ApiRate:
    """The paths below `roots` share one limit for each caller. A request without a valid credential is counted for its network.

    `limit` is asked at each request, since settings may change; `strangers` is the limit of a network, if it is another.
    """

    def __init__(
        self,
        name: str,
        roots: tuple[str, ...],
        limit: Callable[[], int],
        strangers: Callable[[], int] | None = None,
    ) -> None:
        self.name, self.roots = name, roots
        self._limit, self._strangers = limit, strangers or limit

    def covers(self, path: str) -> bool:
        return any(path == root or path.startswith(root + "/") for root in self.roots)

    def count(self, request: HttpRequest, caller: str = "", amount: int = 1) -> RateState:
        """Count a request for its caller, or for its network. A call that is worth more counts again, by what it adds."""
        limit = self._limit() if caller else self._strangers()
        bucket = f"{self.name}:{caller or f'address:{client_network(request)}'}"
        state = consume(bucket, limit=limit, amount=amount)
        request.META[_COUNTED] = bucket, state
        return state

    def check(self, request: HttpRequest, caller: str = "", amount: int = 1) -> None:
        """`count`. Raises `TooManyRequests`."""
        state = self.count(request, caller, amount)
        if not state.allowed:
            message = (
                f"More than {state.limit} requests in a minute. Try again in {state.retry_after} seconds."
            )
            raise TooManyRequests(message, retry_after=state.retry_after)

    def take_back(self, request: HttpRequest) -> None:
        """Uncount a request that turned out to be free. Its headers say so."""
        bucket, state = request.META[_COUNTED]
        uncount(bucket)
        request.META[_COUNTED] = bucket, state.less_one

    def state_of(self, request: HttpRequest) -> RateState:
        """A request that no view counted is counted for its network now."""
        counted = request.META.get(_COUNTED)
        state: RateState = counted[1] if counted else self.count(request)
        return state


class RateHeadersMiddleware:
    """Writes the counts of `settings.API_RATES`. All other middleware but a log is inside, so redirects and crashes get the headers too."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self._rates: list[ApiRate] = [import_string(name) for name in settings.API_RATES]

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        for rate in self._rates:
            if rate.covers(request.path_info):
                for name, value in rate.state_of(request).headers().items():
                    response[name] = value
        return response
