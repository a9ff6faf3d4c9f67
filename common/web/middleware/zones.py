"""Zones: parts of the site with their own middleware, and some with their own URLconf.

Django has one list of middleware for all requests. API requests would pass through the middleware of pages, and
shoppers through the platform's sessions. `settings.ZONES` has a list for each zone, and `settings.ZONE_OF` is the
function that selects the zone of a request. docs/decisions/0019 has the reasons.
"""

from collections.abc import Callable, Sequence
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.urls import set_urlconf
from django.utils.module_loading import import_string

from common.errors import ERROR_CODE_HEADER, default_code
from common.web.client_address import forget_untrusted_scheme
from common.web.errors import answer_to, method_not_allowed
from common.web.methods import methods_of
from common.web.requests import refuse_nul

GetResponse = Callable[[HttpRequest], HttpResponse]
ViewStep = Callable[[HttpRequest, Callable[..., HttpResponse], Sequence[Any], dict[str, Any]], Any]


class ZoneMiddleware:
    """Sends a request through the middleware of its zone. Must be last in `MIDDLEWARE`."""

    def __init__(self, get_response: GetResponse) -> None:
        self._zone_of: Callable[[HttpRequest], str] = import_string(settings.ZONE_OF)
        self._zones = {name: Zone(get_response, **zone) for name, zone in settings.ZONES.items()}

    def __call__(self, request: HttpRequest) -> HttpResponse:
        forget_untrusted_scheme(request)
        name = self._zone_of(request)
        zone = self._zones[name]
        request.zone = name  # type: ignore[attr-defined]
        if zone.urlconf:
            request.urlconf = zone.urlconf
            set_urlconf(zone.urlconf)  # Django does so only for what no layer refuses
        response = zone.get_response(request)
        for header, value in settings.ANSWER_HEADERS.items():
            response.headers.setdefault(header, value)
        if response.status_code >= 400 and response.get("Content-Type", "").startswith("application/json"):
            response.headers.setdefault(ERROR_CODE_HEADER, default_code(response.status_code))
        return response

    def process_view(
        self,
        request: HttpRequest,
        view: Callable[..., HttpResponse],
        args: Sequence[Any],
        kwargs: dict[str, Any],
    ) -> HttpResponse | None:
        """What all views have in common, and the steps of the zone. An exception here would get Django's HTML."""
        zone = self._zones[request.zone]  # type: ignore[attr-defined]
        if request.method == "OPTIONS" and (methods := methods_of(view)):
            return HttpResponse(status=204, headers={"Allow": ", ".join(methods)})
        try:
            if zone.refuses_nul:
                _refuse_nul(request)
            return next(filter(None, (step(request, view, args, kwargs) for step in zone.view_steps)), None)
        except Exception as error:
            return answer_to(request, error)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse:
        """Handles exceptions of views, even in `DEBUG`, so that stack traces are never shown."""
        return answer_to(request, error)


class Zone:
    """The chain of middleware of one zone. It supports the hooks `__call__` and `process_view`.

    With `refuses_nul` no view meets the character NUL in its path or query.
    """

    def __init__(
        self,
        get_response: GetResponse,
        *,
        middleware: Sequence[str],
        urlconf: str = "",
        refuses_nul: bool = False,
    ) -> None:
        self.urlconf = urlconf
        self.refuses_nul = refuses_nul
        self.view_steps: list[ViewStep] = []
        self.get_response = _with_error_shape(get_response)
        for path in reversed(middleware):
            layer = import_string(path)(self.get_response)
            if hasattr(layer, "process_view"):
                self.view_steps.insert(0, layer.process_view)
            self.get_response = _with_error_shape(layer)


def _with_error_shape(get_response: GetResponse) -> GetResponse:
    """Turn exceptions of a layer into error responses (Django would send HTML), and an empty 405 into one with a body."""

    def answer(request: HttpRequest) -> HttpResponse:
        try:
            response = get_response(request)
        except Exception as error:
            return answer_to(request, error)
        if isinstance(response, HttpResponseNotAllowed) and not response.content:
            return _of_another_method(request, response)
        return response

    return answer


def _of_another_method(request: HttpRequest, refused: HttpResponseNotAllowed) -> HttpResponse:
    methods = refused["Allow"].split(", ")
    return method_not_allowed(request, ", ".join(methods if "OPTIONS" in methods else [*methods, "OPTIONS"]))


def _refuse_nul(request: HttpRequest) -> None:
    """Raises `Http404` for a path with the character, `Invalid` for a query."""
    if "\0" in request.path_info:
        raise Http404
    refuse_nul(request.GET)
