"""What an API call and its answer mean, in sentences for developers; the steps of a thread, and the outcome of a hook call, as pages show them."""

import shlex
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from http import HTTPStatus
from typing import Any, Final

from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html

from accounts.models import Business
from activity.models import ApiCall
from activity.services.writing import KEPT_OF_BODY
from activity.threads import StepKind, ThreadEntry, commands_of
from common.money import display
from common.observability.masking import MASK
from common.templatetags.links import address
from common.templatetags.ui import host, thousands
from developers.portal.apps.details_form import field_url
from developers.portal.sandbox.first_calls import TO_FILL_IN
from extensions.enums import CallOutcome, CommandOutcome
from extensions.models import ShopCommand
from installations.queries import asked_since
from marketplace.models import App
from stores.enums import OrderValidation
from stores.models import OrderHookPart

_LONGER_THAN_A_WINDOW: Final = timedelta(seconds=120)  # a request counts a little after its time


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a call failed, and what to do. `link` leads to where it is done, `error` is the code or status in the index of errors."""

    title: str
    fix: str
    link: str = ""
    link_label: str = ""
    used: tuple[tuple[str, str, int], ...] = ()  # for 429: method, route and number
    error: str = ""


def headline(call: ApiCall) -> str:
    try:
        return f"{call.status} {HTTPStatus(call.status).phrase}"
    except ValueError:
        return str(call.status)


def explain(app: App, call: ApiCall) -> Explanation | None:
    """None for a call that worked."""
    if call.status < 400:
        return None
    return replace(_explanation(app, call), error=call.error_code or f"status-{call.status}")


def _explanation(app: App, call: ApiCall) -> Explanation:
    if call.status == 401:
        return _ended_token(call)
    if call.status == 403:
        return _forbidden(app, call)
    if call.status == 429:
        return _too_many(call)
    if call.error_code in _OF_SHOPS:
        return Explanation(f"{call.status}: {call.message}", _OF_SHOPS[call.error_code])
    if call.status >= 500:
        return Explanation(
            f"{call.status}: something failed on our side.",
            "Repeat the call. If it fails again, send us the request ID.",
        )
    return Explanation(
        f"{call.status}: {call.message}", _FIXES.get(call.status, "Change the request, then repeat it.")
    )


_FIXES: Final = {
    404: "Check the path and the ID. Objects in other stores also return 404.",
    405: "Check the method.",
    409: "The state has changed in the meantime. Read the object again, then decide.",
    413: "Send a smaller body.",
    415: "Send JSON with Content-Type: application/json.",
}


# The store is connected, and its own software was asked.
_OF_SHOPS: Final = {
    "shop_not_found": "The shop says so. Read the object again: it may have gone just now.",
    "shop_conflict": "The shop says so. Read the object again, then decide.",
    "shop_refused": "The shop says so. Show its reason to the user, or change what you send.",
    "shop_unreachable": "Wait as Retry-After says, then repeat the call with the same Idempotency-Key. The shop may have done it already.",
    "store_read_only": "The shop doesn't take changes from apps. Ask the merchant to make them there.",
}


def _ended_token(call: ApiCall) -> Explanation:
    installation = call.installation
    title = f"401 because the token ending in {call.token_last_four} has ended."
    store = installation.business.name
    if installation.app.suspended_at:
        return Explanation(
            title, "The app is suspended. Its tokens work again once the suspension is lifted."
        )
    if installation.uninstalled_at:
        return Explanation(title, f"{store} has uninstalled the app. Stop calling for this store.")
    if installation.token_digest is None:
        return Explanation(
            title, f"It was revoked. Send {store} through /oauth/authorize again for a new token."
        )
    return Explanation(
        title, f"It was replaced. The current token of {store} ends in {installation.token_hint}."
    )


def _forbidden(app: App, call: ApiCall) -> Explanation:
    store, scope = call.installation.business.name, call.scope
    if call.error_code == "app_paused":
        return Explanation(
            f"403 because {store} has paused the app.",
            "There is nothing to fix: calls work again when the store resumes the app.",
        )
    if call.error_code not in ("missing_scope", "scope_not_agreed"):
        return Explanation(f"403: {call.message}", "The token is valid, but may not do this.")
    because = f"403 because the token lacks {scope}."
    installation = call.installation
    if scope in installation.effective_scopes:
        return Explanation(because, "The token has the scope now. Repeat the call.")
    if scope in installation.offered_scopes and not installation.follows_working_copy:
        since = asked_since(installation, [scope]).since[scope]
        return Explanation(
            f"{because} The app asks for it since version {since}, and {store} hasn't agreed.",
            "Its owner is asked in the dashboard. You can also send them through /oauth/authorize again; the same token "
            "then has the scope.",
        )
    if scope in app.scopes and not installation.follows_working_copy:
        return Explanation(
            f"{because} Your draft asks for it, and no approved version does.",
            "Submit the app for review. Stores are asked to agree after the approval.",
            reverse("portal:review", args=[app.slug]),
            "Open review",
        )
    return Explanation(
        f"{because} The app doesn't ask for it.",
        "Add the scope under Listing, Access. On your sandbox it works at once, elsewhere after a review and the store's yes.",
        field_url(app, "scopes"),
        "Add the scope",
    )


def _too_many(call: ApiCall) -> Explanation:
    used = _used_in_window(call)
    total = sum(number for _, _, number in used)
    end = timezone.localtime(datetime.fromtimestamp(call.rate_reset, UTC))
    return Explanation(
        f"429: {min(total, call.rate_limit)} of {call.rate_limit} requests of this minute were used.",
        f"Wait until {end:%H:%M:%S} {end.tzname()}, as Retry-After says. Read lists with a larger limit, and use webhooks instead of "
        "polling.",
        used=tuple(used),
    )


def request_headers(call: ApiCall) -> str:
    prefix = "fbat_test_" if call.installation.is_test else "fbat_"
    lines = [f"Authorization: Bearer {prefix}{MASK}{call.token_last_four}"]
    if call.request_body:
        lines.append("Content-Type: application/json")
    if call.idempotency_key:
        lines.append(f"Idempotency-Key: {call.idempotency_key}")
    if call.trace_id:
        lines.append(f"traceparent: 00-{call.trace_id.hex}-{MASK}")
    return "\n".join(lines)


def response_headers(call: ApiCall) -> str:
    lines = [f"X-Error-Code: {call.error_code}"] if call.error_code else []
    lines += [
        f"X-Request-Id: {call.pk}",
        f"X-RateLimit-Limit: {call.rate_limit}",
        f"X-RateLimit-Remaining: {call.rate_left}",
        f"X-RateLimit-Reset: {call.rate_reset}",
    ]
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class AskedOfShop:
    """A command that a call had its store's shop asked."""

    row: ShopCommand
    kind: str
    icon: str
    label: str


def commands(call: ApiCall) -> list[AskedOfShop]:
    found = commands_of(call.pk).filter(installation=call.installation_id)
    return [AskedOfShop(each, *COMMANDS[CommandOutcome(each.outcome)]) for each in found]


def is_cut(body: str) -> bool:
    return len(body.encode()) > KEPT_OF_BODY - 4  # a cut may leave out a few bytes of a character


def as_curl(call: ApiCall) -> str:
    """A command that repeats the call, with a placeholder for the token. Empty if its body is not known in full."""
    body = call.request_body
    if is_cut(body) or MASK in body + call.path:
        return ""
    parts = [
        f"curl{'' if call.method == 'GET' else f' -X {shlex.quote(call.method)}'} {shlex.quote(settings.BASE_URL + call.path)}",
        f"-H 'Authorization: Bearer {TO_FILL_IN}'",
    ]
    if call.idempotency_key:
        parts.append(f"-H {shlex.quote(f'Idempotency-Key: {call.idempotency_key}')}")
    if body:
        parts += ["-H 'Content-Type: application/json'", f"-d {shlex.quote(body)}"]
    return " \\\n  ".join(parts)


def pill_of(status: int) -> tuple[str, str, str]:
    """Kind, icon and label for the status of an API call."""
    if status < 400:
        return "ok", "check", "Succeeded"
    if status == 429:
        return "warn", "clock", "Rate limited"
    return ("bad", "circle-x", "Failed") if status >= 500 else ("warn", "triangle-alert", "Refused")


# --- The steps of a thread ---------------------------------------------------------------------------

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
            about = " · ".join(filter(None, (row.problem, _in_order(entry.part) if entry.part else "")))
            return seen(OUTCOMES[row.outcome][0], f"Hook call: {row.hook_point}", said, app, link, about)
        case StepKind.COMMAND:
            kind, _, label = COMMANDS[row.outcome]
            title, app = f"Command to the shop: {row.command}", row.installation.app
            return seen(kind, title, f"{label} {_took(row)}", app, "", row.message)
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


def _in_order(part: OrderHookPart) -> str:
    """`Order 1001, validated: $2.50. One in ten`."""
    order = part.order
    amount = "" if part.amount is None else display(part.amount, order.currency, order.business.locale)
    verdict = OrderValidation(order.validation).label.lower()
    words = " ".join(filter(None, (part.reason, part.instead)))
    return f"Order {order.number}, {verdict}{amount and f': {amount}'}{words and f'. {words}'}"


def _took(row: Any) -> str:
    return f"in {thousands(row.duration_ms)} ms"


# Kind, icon and label of the pill.
OUTCOMES: Final = {
    CallOutcome.ANSWERED: ("ok", "check", "Succeeded"),
    CallOutcome.TIMEOUT: ("bad", "clock", "Timeout"),
    CallOutcome.UNREACHABLE: ("bad", "plug", "Unreachable"),
    CallOutcome.HTTP_ERROR: ("bad", "circle-x", "HTTP error"),
    CallOutcome.NOT_JSON: ("bad", "braces", "Not JSON"),
    CallOutcome.UNEXPECTED: ("bad", "braces", "Unexpected JSON"),
    CallOutcome.BREAKER_OPEN: ("neutral", "pause", "Skipped"),
    CallOutcome.NO_TIME_LEFT: ("neutral", "clock", "No time left"),
}


COMMANDS: Final = {
    CommandOutcome.SENT: ("neutral", "clock", "Sent"),
    CommandOutcome.DONE: ("ok", "check", "Done"),
    CommandOutcome.REFUSED: ("warn", "triangle-alert", "Refused by the shop"),
    CommandOutcome.UNREACHABLE: ("bad", "plug", "No usable answer"),
    CommandOutcome.NO_PLACE: ("neutral", "clock", "Not sent"),
}


def _used_in_window(call: ApiCall) -> list[tuple[str, str, int]]:
    """What counted for the rate limit until a call: method, route and number, most first."""
    end = datetime.fromtimestamp(call.rate_reset, UTC)
    in_window = ApiCall.objects.filter(
        installation=call.installation_id, at__gte=end - _LONGER_THAN_A_WINDOW, at__lte=call.at,
        rate_reset=call.rate_reset,
    )  # fmt: skip
    counts: dict[tuple[str, str], int] = {}
    for method, route, path in in_window.exclude(status=429).values_list("method", "route", "path"):
        key = method, route or path.partition("?")[0]
        counts[key] = counts.get(key, 0) + 1
    return sorted(((*key, number) for key, number in counts.items()), key=lambda each: (-each[2], each))
