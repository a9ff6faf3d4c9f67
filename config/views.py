"""The front page, and the answer to an unknown path."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt

from common.middleware import error_response


def home(request: HttpRequest) -> HttpResponse:
    return render(request, "home.html")


@csrf_exempt
def not_found(request: HttpRequest) -> HttpResponse:
    """Stands last among the routes, so that `DEBUG` has no page of its own for an unknown path."""
    return error_response(request, 404, f"There is nothing at {request.path}.")
