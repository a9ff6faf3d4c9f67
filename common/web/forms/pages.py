"""The life of a form: it is shown, saved, and shown again with what is wrong.

if response := saved(request, form, lambda: …):
    return response
return form_page(request, "….html", {"form": form})
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from common.errors import ERROR_CODE_HEADER, Conflict, Invalid, NotFound, ServiceError, Unavailable
from common.rest.errors import held_up
from common.web.forms import one_time

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
    token = form.cleaned_data.get(one_time.FIELD) if again else ""
    try:
        return one_time.once(person, token, save, again) if token and again else save()
    except NotFound:
        raise
    except ServiceError as error:
        refuse(form, error, names=names, conflict=conflict)
    except OperationalError as error:
        refuse(form, held_up(error))
    return None


def refuse(
    form: Any, error: ServiceError, *, names: Mapping[str, str] | None = None, conflict: str | None = None
) -> None:
    """Have `form_page` show the form with what a service refuses, and with the status that says so."""
    add_service_errors(form, error, names=names, conflict=conflict)
    form.refusal = error
    is_of_field = isinstance(error, Invalid) or (conflict and isinstance(error, Conflict))
    form.status = UNPROCESSABLE if is_of_field else error.status


def may_save(request: HttpRequest, form: Any) -> bool:
    """Whether the form was sent now, is right, and overwrites nothing that its page didn't show.

    One that can't be looked at now, such as a picture without a place to decode it, gets that as its error.
    """
    if request.method != "POST":
        return False
    try:
        return form.is_valid() and not form_conflicts(form)
    except Unavailable as busy:
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


def with_headers(response: HttpResponse, refusal: ServiceError) -> HttpResponse:
    """The response, with what the error says beside its text: when to try again."""
    for name, value in {ERROR_CODE_HEADER: refusal.code, **refusal.headers}.items():
        response[name] = value
    return response


def sent_again(request: HttpRequest, to: str, first: datetime) -> HttpResponse:
    """For `again`: a second press, or a page that was reloaded."""
    messages.info(request, one_time.SENT_BEFORE)
    return redirect(to)


def done(request: HttpRequest, message: str, to: Any, *args: Any) -> HttpResponse:
    messages.success(request, message)
    return redirect(to, *args)


def add_service_errors(
    form: forms.Form,
    error: ServiceError,
    *,
    names: Mapping[str, str] | None = None,
    conflict: str | None = None,
) -> None:
    """Show a service's errors at their fields, and those of no field of the form at its top. `names` maps names of the API to
    those of the form; `conflict` is the field of a `Conflict`."""
    if not error.details:
        form.add_error(conflict if isinstance(error, Conflict) else None, error.message)
    for detail in error.details:
        name = detail["field"].partition("[")[0]
        field = (names or {}).get(name, name)
        form.add_error(field if field in form.fields else None, detail["message"])
