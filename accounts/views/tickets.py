"""The link of a ticket, by which a shop signs one of its people in (contract, section 17, "People")."""

from typing import Any, Final

from allauth.account.internal.flows.login import record_authentication
from django.contrib.auth import login
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.models import ShopTicket
from accounts.sign_in import tickets, ways
from common.web.limits import limit_by_address
from common.web.methods import GET_OR_POST

BACKEND: Final = "django.contrib.auth.backends.ModelBackend"  # which reads the person of a session
TICKET: Final = "ticket"  # as a proof of who somebody is
TRIES: Final = 300  # a minute, of one network


@never_cache
@require_http_methods(GET_OR_POST)
def ticket(request: HttpRequest, token: str) -> HttpResponse:
    """A GET signs the person in, or asks first where somebody else is signed in. A HEAD, such as of a program that looks at links, changes
    nothing.
    """
    limit_by_address(request, "tickets", per_minute=TRIES)
    found = tickets.find(token)
    if found is None:
        return _gone(request)
    if request.method != "POST" and _is_of_another(request, found):
        context: dict[str, Any] = {"person": found.person.user, "store": found.person.store.business}
        return render(request, "accounts/ticket_continue.html", context)
    if request.method == "HEAD":
        return _leads_to(found)
    with transaction.atomic():
        if not tickets.use(found):
            return _gone(request)
        _sign_in(request, found)
    return _leads_to(found)


def _gone(request: HttpRequest) -> HttpResponse:
    """Without the names of anybody, since anybody may have the link by now."""
    return render(request, "accounts/ticket_gone.html", status=410)


def _is_of_another(request: HttpRequest, found: ShopTicket) -> bool:
    return request.user.is_authenticated and not tickets.is_same(request.user, found.person)


def _sign_in(request: HttpRequest, found: ShopTicket) -> None:
    """In a session with another key, which ends in 12 hours whatever happens in it."""
    user = found.person.user
    if request.user.is_authenticated and request.user.pk != user.pk:
        ways.take_along(request)
    elif request.user.is_authenticated:
        request.session.cycle_key()
    login(request, user, backend=BACKEND)
    record_authentication(request, user, method=TICKET)
    request.session.set_expiry(timezone.now() + tickets.SESSION)


def _leads_to(found: ShopTicket) -> HttpResponse:
    response = HttpResponseRedirect(found.next)
    response.status_code = 303
    response["Referrer-Policy"] = "no-referrer"
    return response
