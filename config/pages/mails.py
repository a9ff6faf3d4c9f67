"""`/_mails/`: each mail with made-up facts, its HTML body beside its text. For people who change mails."""

from typing import Any, cast

from csp.constants import SELF, UNSAFE_INLINE
from csp.decorators import csp_replace
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.clickjacking import xframe_options_sameorigin

from common.web.methods import require_safe
from config.pages.sample_mails import sample_mails
from config.pages.styleguide import for_staff

POLICY = {"style-src": [SELF, UNSAFE_INLINE], "frame-src": [SELF], "frame-ancestors": [SELF]}


@require_safe
@for_staff
@xframe_options_sameorigin
@cast(Any, csp_replace)(POLICY)
def mails(request: HttpRequest) -> HttpResponse:
    """`?mail=` chooses one. With `body=html` the response is its HTML body, for the frame of this page."""
    made = sample_mails()
    chosen = request.GET.get("mail", "")
    name = chosen if chosen in made else next(iter(made))
    if request.GET.get("body") == "html":
        html, _ = made[name].alternatives[0]
        return HttpResponse(cast(str, html))
    return render(request, "sample_mails.html", {"names": list(made), "name": name, "mail": made[name]})
