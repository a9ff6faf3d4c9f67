"""What a form's page answers when it must not even look at what was typed."""

from django.http import HttpResponse
from django.views.generic.edit import FormView

from common.errors import TooManyRequests


def too_many(view: FormView, error: TooManyRequests) -> HttpResponse:
    """The page again, with all that was typed but passwords, and when to come back."""
    kwargs = view.get_form_kwargs() | {"data": None, "files": None, "initial": view.request.POST.dict()}
    return view.render_to_response(
        view.get_context_data(form=view.get_form_class()(**kwargs), refusal=error.message),
        status=error.status,
        headers=error.headers,
    )
