"""What a form's page answers when too many attempts were made."""

from abc import ABC, abstractmethod
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.generic.edit import FormView

from common.errors import TooManyRequests


class LimitedForm(FormView, ABC):
    """A form whose posts are counted (`count_attempt`). Above the limit the page shows when to try again."""

    @abstractmethod
    def count_attempt(self, request: HttpRequest) -> None:
        """Raise `TooManyRequests` above a limit."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            self.count_attempt(request)
            return super().post(request, *args, **kwargs)
        except TooManyRequests as error:
            return too_many(self, error)


def too_many(view: FormView, error: TooManyRequests) -> HttpResponse:
    """The page again, with all that was typed but passwords, and when to come back."""
    kwargs = view.get_form_kwargs() | {"data": None, "files": None, "initial": view.request.POST.dict()}
    return view.render_to_response(
        view.get_context_data(form=view.get_form_class()(**kwargs), refusal=error.message),
        status=error.status,
        headers=error.headers,
    )
