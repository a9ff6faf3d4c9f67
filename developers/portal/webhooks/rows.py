"""The rows of the list of webhook endpoints, as their template writes them."""

from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from common.templatetags.links import address
from common.templatetags.stamped_forms import tokens_of_forms
from common.templatetags.ui import icon, moment, pill, thousands
from developers.portal.webhooks.statuses import WebhookStatus
from installations.models import Installation
from marketplace.models import App
from webhooks.filters.judging import words_of
from webhooks.models import Webhook
from webhooks.queries import filter_of

LINK: Final = (
    '<a class="button small{}" data-changes href="{}">{}{}<span class="visually-hidden"> {}</span></a>'
)
DESCRIBED: Final = SafeString('dir="auto"')
UNNAMED: Final = SafeString('class="mono"')
APP_DEFINED: Final = "App's Webhook URL"
RESUME: Final = (
    '<form method="post" action="{}">{}'
    '<button class="button small">{}{}<span class="visually-hidden"> {}</span></button></form>'
)


def endpoint_rows(
    request: HttpRequest,
    app: App,
    endpoints: Collection[WebhookStatus],
    own: Installation | None,
    tested: dict[str, Any],
    *,
    is_open: bool,
    at_one_url: bool = False,
) -> list[dict[str, Any]]:
    """`tested` is the result of a test (`statuses.test_result`). A single row is open. Rows `at_one_url` have the names of their stores."""
    tokens = tokens_of_forms(request)
    of_test = tested["tested"].delivery.webhook_id if tested else None
    return [
        _row(app, each, of_test, tested, tokens, own, is_open=is_open)
        | (_named_for_its_store(each) if at_one_url else {})
        for each in endpoints
    ]


def _named_for_its_store(status: WebhookStatus) -> dict[str, Any]:
    name, webhook = status.webhook.installation.business.name, status.webhook
    return {"whose": DESCRIBED, "name": name, "store": webhook.description, "level": "h3"}


def _row(
    app: App,
    each: WebhookStatus,
    of_test: UUID | None,
    tested: dict[str, Any],
    tokens: Callable[[str], SafeString],
    own: Installation | None,
    *,
    is_open: bool,
) -> dict[str, Any]:
    webhook, installation = each.webhook, each.webhook.installation
    test = address("portal:webhook_test", app.slug, webhook.pk)
    is_tested = webhook.pk == of_test
    result = {"app": app, **tested}
    return {
        "id": webhook.pk,
        "open": " open" if is_open or is_tested else "",
        "whose": DESCRIBED if webhook.description else UNNAMED,
        "level": "h2",
        "name": webhook.description or webhook.url,
        "store": f"{APP_DEFINED}, {installation.business.name}"
        if webhook.is_app_defined
        else installation.business.name,
        "pills": _pills(each),
        "strip": each.strip.drawn,
        "reason": _reason(each),
        "url": webhook.url,
        "events": _events(
            tuple(each.events), tuple(each.without_scope), webhook.is_app_defined and not webhook.events
        ),
        "filter": _filter(filter_of(webhook, installation)),
        "succeeded": moment(each.last_success, "None in the last 30 days"),
        "next": moment(each.next_attempt, "None scheduled"),
        "held": _held(each) if each.held else "",
        "tested": render_to_string("developers/portal/webhooks/test_result.html", result)
        if is_tested
        else "",
        "test": test,
        "zap": icon("zap"),
        "tokens": tokens(test),
        "acts": _acts(app, webhook, tokens),
        "deliveries": f"{address('portal:deliveries', app.slug)}?webhook={webhook.pk}",
        "edit": _edit(app, webhook) if own and webhook.installation_id == own.pk else "",
    }


def _pills(status: WebhookStatus) -> SafeString:
    shown = pill(status.kind, status.label, status.icon)
    return shown + test_mark() if status.webhook.installation.is_test else shown


@lru_cache(maxsize=1)
def test_mark() -> SafeString:
    return format_html('<span class="sandbox-mark">{}{}</span>', icon("diamond"), "Test")


def _reason(status: WebhookStatus) -> SafeString | str:
    disabled_at = status.webhook.disabled_at
    disabled = format_html(" Disabled on {}.", moment(disabled_at)) if disabled_at else ""
    return format_html('<p class="soft">{}{}</p>', status.reason, disabled) if status.reason else ""


@lru_cache(maxsize=256)
def _events(events: tuple[str, ...], without_scope: tuple[str, ...], is_apps_list: bool) -> SafeString:
    names = format_html_join(", ", '<span class="mono small nowrap">{}</span>', ((each,) for each in events))
    return format_html(
        "{}{}{}",
        SafeString('<span class="soft">The app\'s list: </span>') if is_apps_list else "",
        names or "None",
        format_html(
            '<br><span class="soft small">Not sent because the app lacks the scope: {}</span>',
            ", ".join(without_scope),
        )
        if without_scope
        else "",
    )


def _filter(filter_text: str | None) -> SafeString | str:
    words = filter_text and words_of(filter_text)
    return format_html('<dt>Filter</dt><dd class="mono small breakable">{}</dd>', words) if words else ""


def _held(status: WebhookStatus) -> SafeString:
    return format_html(
        "<dt>Held</dt><dd>{} event{}{}</dd>",
        thousands(status.held),
        "" if status.held == 1 else "s",
        "" if status.webhook.installation.paused_at else ", kept until you resend them",
    )


def _acts(app: App, webhook: Webhook, tokens: Callable[[str], SafeString]) -> SafeString:
    """What switches it on and off, and resends what failed."""
    acts = SafeString()
    if webhook.is_active:
        pause = address("portal:webhook_pause", app.slug, webhook.pk)
        acts += format_html(LINK, "", pause, icon("pause"), "Pause", webhook.url)
        if not webhook.installation.paused_at:
            resend = f"{address('portal:recover', app.slug)}?webhook={webhook.pk}"
            acts += format_html(LINK, "", resend, icon("rotate-cw"), "Resend failed…", webhook.url)
    elif not webhook.lacks_url:
        resume = address("portal:webhook_resume", app.slug, webhook.pk)
        word = "Enable" if webhook.disabled_at else "Resume"
        acts += format_html(RESUME, resume, tokens(resume), icon("play"), word, webhook.url)
    return acts


def _edit(app: App, webhook: Webhook) -> SafeString:
    pages = [("portal:webhook_edit", "pencil", "Edit"), ("portal:webhook_delete", "trash-2", "Delete")]
    return format_html_join(
        "\n",
        LINK,
        (
            (" quiet", address(page, app.slug, webhook.pk), icon(name), word, webhook.url)
            for page, name, word in pages[: 1 if webhook.is_app_defined else 2]
        ),
    )
