"""The life of a form: it is shown, saved once, and shown again with what is wrong.

if response := saved(request, form, lambda: …):
    return response
return form_page(request, "….html", {"form": form})
"""

import hashlib
import logging
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from time import monotonic, sleep
from typing import Any, Final, TypeVar

from django import forms
from django.contrib import messages
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.cache import cache
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from redis import RedisError

from common import errors
from common.rest.errors import held_up

UNPROCESSABLE: Final = 422
Save = Callable[[], HttpResponse]


def saved(
    request: HttpRequest,
    form: Any,
    save: Save,
    *,
    again: Callable[[datetime], HttpResponse] | None = None,
    names: Mapping[str, str] | None = None,
    conflict: str | None = None,
) -> HttpResponse | None:
    """What `save` answers, once the form was sent and is right; else None, and the form has what is wrong.

    A refusal of a service becomes an error of the form (`add_service_errors`). A `OneTimeForm` is saved once: `again` answers when
    it is sent once more, with the time of the first.
    """
    if not may_save(request, form):
        return None
    person: Any = request.user
    token = form.cleaned_data.get(FORM_FIELD) if again else ""
    try:
        return once(person, token, save, again) if token and again else save()
    except errors.NotFound:
        raise
    except errors.ServiceError as error:
        refuse(form, error, names=names, conflict=conflict)
    except OperationalError as error:
        refuse(form, held_up(error))
    return None


def refuse(
    form: Any,
    error: errors.ServiceError,
    *,
    names: Mapping[str, str] | None = None,
    conflict: str | None = None,
) -> None:
    """Have `form_page` show the form with what a service refuses, and with the status that says so."""
    add_service_errors(form, error, names=names, conflict=conflict)
    form.refusal = error
    is_of_field = isinstance(error, errors.Invalid) or (conflict and isinstance(error, errors.Conflict))
    form.status = UNPROCESSABLE if is_of_field else error.status


def may_save(request: HttpRequest, form: Any) -> bool:
    """Whether the form was sent now, is right, and overwrites nothing that its page didn't show.

    One that can't be looked at now, such as a picture without a place to decode it, gets that as its error.
    """
    if request.method != "POST":
        return False
    try:
        return form.is_valid() and not form_conflicts(form)
    except errors.Unavailable as busy:
        refuse(form, busy)
        return False


def form_conflicts(form: Any) -> bool:
    """Whether somebody else changed the same meanwhile; then the form shows both."""
    return hasattr(form, "show_conflicts") and form.show_conflicts()


def form_page(
    request: HttpRequest, template: str, context: Mapping[str, Any], *, form: Any = None
) -> HttpResponse:
    """The page of a form, which is the context's if none is given, with the status that says what became of it."""
    form = form or context["form"]
    failed = request.method == "POST" and form.errors
    response = render(
        request, template, context, status=getattr(form, "status", UNPROCESSABLE) if failed else 200
    )
    return with_headers(response, form.refusal) if hasattr(form, "refusal") else response


def with_headers(response: HttpResponse, refusal: errors.ServiceError) -> HttpResponse:
    """The response, with what the error says beside its text: when to try again."""
    for name, value in {errors.ERROR_CODE_HEADER: refusal.code, **refusal.headers}.items():
        response[name] = value
    return response


def sent_again(request: HttpRequest, to: str, first: datetime) -> HttpResponse:
    """For `again`: a second press, or a page that was reloaded."""
    messages.info(request, SENT_BEFORE)
    return redirect(to)


def done(request: HttpRequest, message: str, to: Any, *args: Any) -> HttpResponse:
    messages.success(request, message)
    return redirect(to, *args)


@contextmanager
def refusals_shown(
    request: HttpRequest, kind: type[errors.ServiceError] = errors.ServiceError
) -> Iterator[None]:
    """For a button without a form: what a service refuses within this block is a message on the page that follows."""
    try:
        yield
    except kind as error:
        messages.error(request, error.message)


def add_service_errors(
    form: forms.Form,
    error: errors.ServiceError,
    *,
    names: Mapping[str, str] | None = None,
    conflict: str | None = None,
) -> None:
    """Show a service's errors at their fields, and those of no field of the form at its top. `names` maps names of the API to
    those of the form; `conflict` is the field of a `Conflict`."""
    if not error.details:
        form.add_error(conflict if isinstance(error, errors.Conflict) else None, error.message)
    for detail in error.details:
        name = detail["field"].partition("[")[0]
        field = (names or {}).get(name, name)
        form.add_error(field if field in form.fields else None, detail["message"])


# --- Tokens for forms that add something -------------------------------------------------------------

# The page after such a form shows a secret, and reloading that page sends the form again. Without a token, a reload would
# issue another secret and invalidate the one that the developer has just stored.

log = logging.getLogger(__name__)

TOKEN_LIFETIME: Final = 24 * 3600  # seconds
FORM_FIELD: Final = "form_token"
SENT_BEFORE: Final = "This form had been sent before, so it was saved once."
UNFINISHED: Final = "unfinished"
UNFINISHED_FOR: Final = 60  # seconds: longer than a request may take
PATIENCE: Final = 0.5  # seconds that a second press waits for the first; it holds a thread of the web server
STILL_SAVING: Final = "This form was sent a moment ago and is still being saved. Check whether it was saved before you press again."
Answer = TypeVar("Answer")


class StillSaving(errors.ServiceError):
    """409: a second press, while nothing is known of the first."""

    status = 409
    code = errors.DEFAULT_CODES[409]


def new_token() -> str:
    return secrets.token_urlsafe(16)


class OneTimeForm(forms.Form):
    """A form that is processed once."""

    form_token = forms.CharField(widget=forms.HiddenInput, max_length=64, required=False, initial=new_token)


class SecretForm(OneTimeForm):
    """A form that is answered with a secret. Without its token it is refused."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields[FORM_FIELD].required = True


def once(
    user: AbstractBaseUser, token: str, save: Callable[[], Answer], again: Callable[[datetime], Answer]
) -> Answer:
    """What `save` returns, or what `again` returns if the form was saved before, with the time of the first.

    A save that raises leaves the token unused, and so does one whose process dies, after `UNFINISHED_FOR`. A second press waits for
    the first. Raises `StillSaving` if that takes long. While the cache is unavailable, every press counts as the first.
    """
    key = f"form-token:{user.pk}:{hashlib.sha256(token.encode()).hexdigest()}"
    try:
        first = _claim(key)
    except RedisError:
        log.warning("Could not claim a form token: the cache is unavailable", exc_info=True)
        return save()
    if first:
        return again(first)
    try:
        answer = save()
    except BaseException:
        _mark(key, None)
        raise
    _mark(key, timezone.now())
    return answer


def _claim(key: str) -> datetime | None:
    """None for the first press, else when the form was saved."""
    until = monotonic() + PATIENCE
    while not cache.add(key, UNFINISHED, UNFINISHED_FOR):
        first = cache.get(key, UNFINISHED)
        if first != UNFINISHED:
            return datetime.fromisoformat(first)
        if monotonic() > until:
            raise StillSaving(STILL_SAVING)
        sleep(0.1)
    return None


def pressed_once(request: HttpRequest, to: str, save: Callable[[], HttpResponse]) -> HttpResponse:
    """For a button with `{% form_token %}`. A second press leads to the page `to`, which says so."""

    token, user = request.POST.get(FORM_FIELD, ""), request.user
    if not token or not user.is_authenticated:
        return save()
    try:
        return once(user, token, save, partial(sent_again, request, to))
    except StillSaving as error:
        messages.error(request, error.message)
        return redirect(to)


def _mark(key: str, saved_at: datetime | None) -> None:
    try:
        if saved_at:
            cache.set(key, saved_at.isoformat(), TOKEN_LIFETIME)
        else:
            cache.delete(key)
    except RedisError:
        log.warning("Could not mark a form token: the cache is unavailable", exc_info=True)
