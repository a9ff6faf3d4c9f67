"""The inbox of an app: webhooks of the sandbox store as they arrive, and what the inbox answers."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from common.errors import ServiceError
from common.web.forms.edits import EditForm
from common.web.forms.kept import typed
from common.web.forms.pages import done, form_page, saved
from common.web.forms.widgets import RadioLines
from common.web.live import live_part, live_version
from common.web.methods import GET_OR_POST, require_safe
from developers.portal.access import app_page, current_developer
from developers.portal.webhooks.inbox_entries import newest_entries
from installations.models import Installation
from installations.queries import sandbox_installation
from marketplace.models import App
from webhooks.enums import InboxAnswer
from webhooks.models import Inbox
from webhooks.services import inboxes

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
        try:
            inboxes.open_inbox(installation=installation)
        except ServiceError as error:
            messages.error(request, error.message)
        else:
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
