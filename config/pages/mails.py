"""`/_mails/`: each mail with made-up facts, its HTML body beside its text. For people who change mails."""

from typing import Any, cast

from csp.constants import SELF, UNSAFE_INLINE
from csp.decorators import csp_update
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from common.web.methods import require_safe
from config.pages.sample_mails import sample_mails
from config.pages.styleguide import for_staff


@require_safe
@for_staff
@cast(Any, csp_update)({"style-src": [SELF, UNSAFE_INLINE]})  # the frame with the mail has the page's policy
def mails(request: HttpRequest) -> HttpResponse:
    """`?mail=` chooses one."""
    made = sample_mails()
    chosen = request.GET.get("mail", "")
    name = chosen if chosen in made else next(iter(made))
    html, _ = made[name].alternatives[0]
    return render(
        request, "sample_mails.html", {"names": list(made), "name": name, "mail": made[name], "html": html}
    )
