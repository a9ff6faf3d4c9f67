"""Answers that no app owns."""

from django.http import HttpRequest, HttpResponse

from common.middleware import error_response


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """For `CSRF_FAILURE_VIEW`: a form without the proof that it was ours."""
    return error_response(
        request,
        403,
        "The form could not be checked: it was open for too long, or cookies are off. "
        "Go back, load the page again and send it once more.",
    )
