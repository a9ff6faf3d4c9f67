"""Answers that no app owns."""

from django.http import HttpRequest, HttpResponse

from common.middleware import error_response


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """For `CSRF_FAILURE_VIEW`: most often a page that was left open while somebody signed in or out."""
    return error_response(request, 403, "This page was too old to be sent. Go back, reload it and try again.")
