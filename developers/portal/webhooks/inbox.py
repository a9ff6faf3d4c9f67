"""The inbox of an app: webhooks of the sandbox store as they arrive, and what the inbox answers."""

import time
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from common import strangers
from common.strangers import may_wait_for_strangers
from common.web.errors import error_response
from common.web.forms.edits import EditForm
from common.web.forms.fields import RadioLines
from common.web.forms.kept import typed
from common.web.forms.pages import done, form_page, refusals_shown, saved
from common.web.live import live_part, live_version
from common.web.methods import GET_OR_POST, require_safe
from common.web.middleware.hang_up import hang_up
from developers.portal.access import app_page, current_developer
from developers.portal.webhooks.inbox_entries import newest_entries
from installations.models import Installation
from installations.queries import sandbox_installation
from marketplace.models import App
from webhooks.enums import InboxAnswer
from webhooks.models import Inbox
from webhooks.services import inboxes

SLOW: Final = 11.0  # seconds; the platform waits for ten
STATUSES: Final = {InboxAnswer.OK: 200, InboxAnswer.GONE: 410, InboxAnswer.ERROR: 500, InboxAnswer.SLOW: 200}
ABOUT = {
    InboxAnswer.OK: "The delivery succeeds.",
    InboxAnswer.GONE: "Fails and is retried. A second 410 some time later disables the endpoint.",
    InboxAnswer.ERROR: "Fails and is retried.",
    InboxAnswer.SLOW: "Times out, because we stop waiting.",
    InboxAnswer.CLOSED: "Fails without a response.",
}


class AnswerForm(EditForm):
    answer = forms.ChoiceField(
        choices=InboxAnswer.choices,
        widget=RadioLines(about={str(answer): about for answer, about in ABOUT.items()}),
        label="What the inbox answers",
        help_text="Choose a failure to see how we retry.",
    )


@require_http_methods(GET_OR_POST)
@app_page
def inbox_page(request: HttpRequest, app: App) -> HttpResponse:
    """Shows the inbox. POST opens it, clears it, or chooses its answer."""
    installation = sandbox_installation(app=app, developer=current_developer(request))
    inbox = inboxes.inbox_of(app)
    data = typed(request)
    if data is not None and (data.get("action") != "answer" or inbox is None):
        if request.method == "POST":
            _carry_out(request, data.get("action"), inbox, installation)
        return redirect("portal:inbox", app.slug)
    form = AnswerForm(data, initial={"answer": inbox.answer} if inbox else None)

    def save() -> HttpResponse:
        if inbox and form.changes:
            inboxes.choose_answer(inbox=inbox, **form.changes)
        return done(request, "Saved. The inbox now returns this response.", "portal:inbox", app.slug)

    if response := saved(request, form, save):
        return response
    context = _entries(app, inbox) | _subscription(inbox, installation) | {"form": form}
    return form_page(request, "developers/portal/webhooks/inbox.html", context)


def _carry_out(
    request: HttpRequest, action: str | None, inbox: Inbox | None, installation: Installation | None
) -> None:
    if action == "clear" and inbox:
        inboxes.clear(inbox=inbox)
    elif action == "open" and installation:
        with refusals_shown(request):
            inboxes.open_inbox(installation=installation)
            messages.success(request, "The inbox receives every event that your app's scopes allow.")


def _subscription(inbox: Inbox | None, installation: Installation | None) -> dict[str, Any]:
    """The webhook by which the inbox receives events, and the events that it doesn't receive but could."""
    webhook = inboxes.webhook_of_inbox(inbox, installation) if inbox and installation else None
    events = set(webhook.events) if webhook and webhook.is_active else set()
    wanted = inboxes.wanted_events(installation) if installation else []
    return {
        "installation": installation,
        "webhook": webhook,
        "url": inboxes.url_of(inbox) if inbox else "",
        "receives": bool(events),
        "missing": [event for event in wanted if event not in events],
    }


@require_safe
@app_page
def inbox_entries(request: HttpRequest, app: App) -> HttpResponse:
    """The entries, for the page's script."""
    return live_part(
        request, "developers/portal/webhooks/inbox_entries.html", _entries(app, inboxes.inbox_of(app))
    )


def _entries(app: App, inbox: Inbox | None) -> dict[str, Any]:
    entries = newest_entries(inbox) if inbox else []
    version = live_version(*(entry.id for entry in entries))
    return {"app": app, "inbox": inbox, "entries": entries, "version": version}


# The URL at which an inbox receives webhooks. No person signs in here: the webhook's signature is the
# credential.


@may_wait_for_strangers
@csrf_exempt
@require_POST
def receive(request: HttpRequest, key: str) -> HttpResponse:
    """Show a webhook in the inbox with this key, and answer as its developer chose."""
    inbox = inboxes.find(key)
    if len(request.body) > inboxes.MAX_BODY:
        return error_response(request, 413, f"An inbox accepts at most {inboxes.MAX_BODY} bytes.")
    answer = inboxes.receive(inbox=inbox, headers=dict(request.headers), body=request.body)
    if answer == InboxAnswer.CLOSED and not hang_up(request):
        return error_response(request, 500, "This server can't close a connection, so it answers 500.")
    if answer == InboxAnswer.SLOW:
        strangers.result(_Pause(SLOW), inbox.app_id)
    response = JsonResponse({"answer": answer.label}, status=STATUSES.get(answer, 500))
    response._has_been_logged = True  # type: ignore[attr-defined]  # noqa: SLF001  # chosen, so no error of ours
    return response


class _Pause:
    """A slow answer keeps a thread waiting as a slow server does, so it needs a place, too."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def result(self, timeout: float | None = None) -> None:
        left = max(0.0, self._end - time.monotonic())
        time.sleep(left if timeout is None else min(left, timeout))
        if timeout is not None and timeout < left:
            raise TimeoutError

    def cancel(self) -> None:
        pass
