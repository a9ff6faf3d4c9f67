"""The checks of signatures that reviewers run, for the developer to run before them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from common import strangers
from common.errors import ComeAgain
from common.strangers import may_wait_for_strangers
from common.web.auth_limits import limit
from developers.portal.views.access import GET_OR_POST, app_page, current_developer
from extensions.evidence import Evidence, Outcome
from extensions.signature_checks import hook_signatures, webhook_signatures
from installations.queries import sandbox_installation
from marketplace.models import App

RUNS_A_MINUTE: Final = 5

# Kind and icon of the pill.
PILLS: Final = {
    Outcome.PASS: ("ok", "check"),
    Outcome.SKIPPED: ("neutral", "minus"),
    Outcome.WARN: ("warn", "triangle-alert"),
    Outcome.FAIL: ("bad", "circle-x"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    kind: str
    icon: str
    label: str
    text: str


@may_wait_for_strangers
@require_http_methods(GET_OR_POST)
@app_page
def signature_checks(request: HttpRequest, app: App) -> HttpResponse:
    """POST sends the requests and waits for the responses, at most ten seconds for each group."""
    context: dict[str, Any] = {
        "app": app,
        "installation": sandbox_installation(app=app, developer=current_developer(request)),
        "limit": RUNS_A_MINUTE,
    }
    status = 200
    if request.method == "POST":
        try:
            strangers.enter(app.pk)
            limit(request, "signature-checks", key=str(app.pk), per_minute=RUNS_A_MINUTE)
            context |= _run(app)
        except ComeAgain as error:
            messages.error(request, error.message)
            status = error.status
    return render(request, "developers/portal/signature_checks.html", context, status=status)


def _run(app: App) -> dict[str, Any]:
    found = list(webhook_signatures(app)), list(hook_signatures(app))
    worst = max((each.outcome for group in found for each in group), key=list(Outcome).index)
    return {"has_run": True, "webhook": _findings(found[0]), "hooks": _findings(found[1]), "passed": worst in (
        Outcome.PASS, Outcome.SKIPPED
    )}  # fmt: skip


def _findings(evidence: Iterable[Evidence]) -> list[Finding]:
    return [Finding(*PILLS[each.outcome], str(each.outcome.label), each.text) for each in evidence]
