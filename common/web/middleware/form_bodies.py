"""Bounds what the body of a form costs to read."""

from collections.abc import Callable
from typing import Final

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse

FORM: Final = "application/x-www-form-urlencoded"
MAX_ESCAPES: Final = 100_000  # `%E9`, for each of which Python keeps some 250 bytes while it reads the form


def check_escapes(body: bytes) -> None:
    """Raise `RequestDataTooBig` for a urlencoded form with more escapes than a form of ours can have."""
    if body.count(b"%") > MAX_ESCAPES:
        raise RequestDataTooBig(f"The form has more than {MAX_ESCAPES} escaped characters.")


def check_form(request: HttpRequest) -> None:
    """`check_escapes` of the form that `request.POST` is going to be."""
    if request.method == "POST" and request.content_type == FORM:
        check_escapes(request.body)


class FormBodyMiddleware:
    """`check_form` for pages. APIs check where they read a form."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        check_form(request)
        return self.get_response(request)
