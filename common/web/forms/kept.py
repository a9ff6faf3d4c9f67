"""Forms that came in vain are shown again, filled: those sent after their session had ended, and those with an old CSRF token.

The typed text waits in the browser's session, encrypted, for an hour and for the person to whom the form had been shown. Nothing is
done with it before that person presses the button again. Passwords, secrets and files are not kept (docs/decisions/0091).
"""

import json
import re
import zlib
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, cast
from urllib.parse import urlsplit

from cryptography.fernet import InvalidToken
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, resolve_url

from common.db.fields import cipher
from common.errors import NotAllowed, TooManyRequests
from common.web.forms.stamps import FIELD, stamp_of
from common.web.limits import count_request, limit
from common.web.methods import methods_of
from common.web.requests import is_own_page

KEY: Final = "kept_form"  # in the session
LIFETIME: Final = 3600  # seconds
LONGEST: Final = 512 * 1024  # characters of a form; a manifest may have 256 KiB
KEPT_A_MINUTE: Final = 10  # for one person, in whatever browsers
LEFT_OUT: Final = re.compile(rf"password|secret|csrfmiddlewaretoken|^{FIELD}$", re.IGNORECASE)

SIGNED_OUT: Final = "You were signed out, so nothing was saved."
FORM_FOLLOWS: Final = "Sign in, and your form is shown again."
PRESS_AGAIN: Final = "Sign in, then press the button again."
GO_BACK: Final = "Your browser’s Back button leads to what you typed."
RENEWED: Final = (
    "Your session was renewed, and nothing is saved yet. Check the form and press its button again."
)
RENEWED_BUTTON: Final = "Your session was renewed, and nothing has happened yet. Press the button again."
FILES: Final = "Choose your files again."
TOO_MANY: Final = (
    "You sent too many forms in a minute, and this one isn’t saved yet. Check it and press its button again."
)
KEPT: Final = "Then open the page again: what you typed is kept for an hour."
OF_ANOTHER: Final = (
    "This page was opened with another account than the one that is signed in now. Nothing was saved."
)

View = Callable[..., HttpResponse]


def signed_in(view: View) -> View:
    """Like Django's `login_required`, for pages whose forms are shown again (`typed` gives what they are filled with).

    A form of a page that was shown to another person is a 403.
    """

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            return to_sign_in(request)
        require_same_person(request)
        return view(request, *args, **kwargs)

    guarded.shows_forms_again = True  # type: ignore[attr-defined]
    return guarded


def never_kept(view: View) -> View:
    """For a page whose fields may hold what must not be stored anywhere. Goes outside of `signed_in`."""
    view.shows_forms_again = False  # type: ignore[attr-defined]
    return view


def to_sign_in(request: HttpRequest) -> HttpResponse:
    """The sign-in page, and after it the page of the form that was sent, or the one that was asked for."""
    if request.method != "POST":
        return redirect_to_login(request.get_full_path())
    stamp = stamp_of(request)
    is_kept = stamp is not None and not _is_button(request) and _keep(request, stamp.person)
    after = PRESS_AGAIN if _is_button(request) else FORM_FOLLOWS if is_kept else GO_BACK
    messages.warning(request, f"{SIGNED_OUT} {after}")
    return redirect_to_login(_page_of(request))


def shown_again(request: HttpRequest) -> HttpResponse | None:
    """For a form with an outdated CSRF token: its page, filled. None for one that no page of ours has shown, or that is too long."""
    stamp = stamp_of(request)
    if stamp is None or not _shows_forms_again(request):
        return None
    if not request.user.is_authenticated:
        return to_sign_in(request)
    require_same_person(request)
    if _is_button(request):
        messages.warning(request, RENEWED_BUTTON)
    return redirect(_page_of(request)) if _is_button(request) or _keep(request, stamp.person) else None


def asked_again(request: HttpRequest, why: str) -> HttpResponse | None:
    """For a form of the person who is signed in that can't be saved as it is: its page, filled, and why. None if it can't be kept."""
    is_kept = not _is_button(request) and _keep(request, str(request.user.pk), why)
    return redirect(_page_of(request)) if is_kept else None


def count_form(request: HttpRequest) -> None:
    """Count a form of the person who is signed in. Raises `TooManyRequests`; its page then has what was typed."""
    person = cast(AbstractBaseUser, request.user)
    try:
        count_request(person)
    except TooManyRequests as error:
        if not _is_button(request) and _keep(request, str(person.pk), TOO_MANY):
            error.message += f" {KEPT}"
        raise


def require_same_person(request: HttpRequest) -> None:
    """Raises `NotAllowed` for a form that was shown to somebody else."""
    stamp = stamp_of(request) if request.method == "POST" else None
    if stamp and stamp.person != str(request.user.pk):
        raise NotAllowed(OF_ANOTHER)


def typed(request: HttpRequest) -> QueryDict | None:
    """What a form is bound to: what was sent now, or kept before. None on a page that is just opened."""
    if request.method == "POST":
        return request.POST
    if request.method != "GET" or KEY not in request.session:
        return None
    kept = _read(request.session[KEY])
    if kept and kept["person"] != str(request.user.pk):
        kept = None
    if kept and kept["path"] != request.path:
        return None  # it waits for its own page
    del request.session[KEY]
    if kept is None:
        return None
    messages.warning(request, f"{kept['why']} {FILES}" if kept["files"] else kept["why"])
    return QueryDict(kept["form"])


def _keep(request: HttpRequest, person: str, why: str = RENEWED) -> bool:
    """Whether the form waits in the session now, for this person. One waits at a time."""
    form = request.POST.copy()
    for name in [name for name in form if LEFT_OUT.search(name)]:
        del form[name]
    text = form.urlencode()
    if len(text) > LONGEST or not _shows_forms_again(request):
        return False
    try:
        limit(request, "kept-forms", key=person, per_minute=KEPT_A_MINUTE)
    except TooManyRequests:
        return False
    files = bool(request.FILES)
    kept = {"person": person, "path": request.path, "form": text, "files": files, "why": why}
    request.session[KEY] = cipher().encrypt(zlib.compress(json.dumps(kept).encode())).decode()
    return True


def _read(kept: str) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(zlib.decompress(cipher().decrypt(kept.encode(), ttl=LIFETIME)))
    except InvalidToken:
        return None
    return found


def _view(request: HttpRequest) -> Any:
    return request.resolver_match and request.resolver_match.func


def _shows_forms_again(request: HttpRequest) -> bool:
    return getattr(_view(request), "shows_forms_again", False)


def _is_button(request: HttpRequest) -> bool:
    """Whether the form has no page at its own address, so nothing is typed into it."""
    return "GET" not in methods_of(_view(request))


def _page_of(request: HttpRequest) -> str:
    """Where the form is shown: at its own address, or for a mere button on the page that had it."""
    if not _is_button(request):
        return request.get_full_path()
    page = request.headers.get("Referer", "")
    if not is_own_page(page, request):
        return resolve_url(settings.LOGIN_REDIRECT_URL)
    return urlsplit(page)._replace(scheme="", netloc="", fragment="").geturl()
