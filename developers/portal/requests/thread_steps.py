"""The steps of a thread, as its page shows them."""

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final

from django.utils.html import format_html

from accounts.models import Business
from activity.threads import StepKind, ThreadEntry
from common.templatetags.links import address
from common.templatetags.ui import host, thousands
from developers.portal.hooks.outcomes import OUTCOMES
from developers.portal.requests.descriptions import pill_of
from marketplace.models import App

STARTED: Final = """<span class="soft">Started by a shopper, the merchant or another app. Request
  <span class="mono">{}</span></span>"""
ID: Final = '<span class="mono small">{}</span>'


@dataclass(frozen=True, slots=True)
class ThreadStep:
    """`kind` and `title` are those of the timeline; `link` leads to what `said` is about, and `about` tells more."""

    at: datetime
    store: Business | None
    kind: str
    title: str
    said: str
    app: App | None = None
    link: str = ""
    about: str = ""


def step_of(entry: ThreadEntry) -> ThreadStep:
    row, seen = entry.row, partial(ThreadStep, entry.at, entry.store)
    match entry.kind:
        case StepKind.REQUEST:
            return seen("neutral", "A page or another app’s call", format_html(STARTED, entry.request_id))
        case StepKind.EVENT:
            return seen("neutral", f"Event: {row.type}", format_html(ID, row.pk))
        case StepKind.API:
            title, said = f"API call: {row.method} {row.path.partition('?')[0]}", f"{row.status} {_took(row)}"
            link = address("portal:request", row.app.slug, row.pk)
            return seen(pill_of(row.status)[0], title, said, row.app, link, row.message)
        case StepKind.HOOK:
            app, said = row.installation.app, f"{row.get_outcome_display()} {_took(row)}"
            link = address("portal:hook_call", app.slug, row.hook_point, row.pk)
            return seen(
                OUTCOMES[row.outcome][0], f"Hook call: {row.hook_point}", said, app, link, row.problem
            )
        case StepKind.DELIVERY:
            app, said = row.webhook.installation.app, f"{row.get_status_display()}: {host(row.webhook.url)}"
            link = address("portal:delivery", app.slug, row.pk)
            return seen("warn", f"Webhook: {row.event.type}", said, app, link)
    webhook, status = row.delivery.webhook, row.http_status
    kind = "ok" if status is not None and 200 <= status < 300 else "bad"
    said = f"{'No response' if status is None else status} {_took(row)} from {host(webhook.url)}"
    app = webhook.installation.app
    link = f"{address('portal:delivery', app.slug, row.delivery.pk)}?attempt={row.number}"
    return seen(kind, f"Webhook: {row.delivery.event.type}, attempt {row.number}", said, app, link)


def _took(row: Any) -> str:
    return f"in {thousands(row.duration_ms)} ms"
