"""What the app owes to businesses that uninstalled it: to erase their data."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from common.pages import page_request
from developers.views.access import app_page
from marketplace.models import App
from webhooks.queries import erasures_of


@require_safe
@app_page
def erasure_list(request: HttpRequest, app: App) -> HttpResponse:
    wanted = page_request(request.GET)
    erasures = erasures_of(app)
    context = {
        "app": app,
        "erasures": erasures[wanted.window],
        "total": erasures.count(),
        "page_request": wanted,
    }
    return render(request, "developers/erasures.html", context)
