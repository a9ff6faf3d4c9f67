"""What a form's page answers when too many attempts were made."""

from abc import ABC, abstractmethod
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.generic.edit import FormView

from common.errors import RetryLater, TooManyRequests


class ShownAgain(FormView):
    """A form that is shown again when it can't be looked at now: too many attempts, or no place to hash a password."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return super().post(request, *args, **kwargs)
        except RetryLater as error:
            return _again(self, error)


class LimitedForm(ShownAgain, ABC):
    """A form whose posts are counted (`count_attempt`). Above the limit the page shows when to try again."""

    @abstractmethod
    def count_attempt(self, request: HttpRequest) -> None:
        """Raise `TooManyRequests` above a limit."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            self.count_attempt(request)
        except TooManyRequests as error:
            return _again(self, error)
        return super().post(request, *args, **kwargs)


def _again(view: FormView, error: RetryLater) -> HttpResponse:
    """The page again, with all that was typed but passwords, and when to come back."""
    kwargs = view.get_form_kwargs() | {"data": None, "files": None, "initial": view.request.POST.dict()}
    return view.render_to_response(
        view.get_context_data(form=view.get_form_class()(**kwargs), refusal=error.message),
        status=error.status,
        headers=error.headers,
    )
