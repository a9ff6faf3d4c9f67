"""An app's hooks: their health, calls and breakers, the newest calls as dots, and a trial call."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import orjson
from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.safestring import SafeString
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import Business
from common.db.rows import get_or_not_found
from common.errors import ServiceError
from common.strangers import may_wait_for_strangers
from common.templatetags.links import address
from common.templatetags.rows import by_day, first_day
from common.templatetags.ui import row_moment, thousands
from common.text.nesting import MAX_DEPTH, indented, is_too_deep
from common.times import lately
from common.web.forms.kept import typed
from common.web.forms.pages import UNPROCESSABLE
from common.web.methods import GET_OR_POST, require_safe
from developers.portal.access import app_page, current_developer
from developers.portal.deliveries.rows import nothing, test_dot
from developers.portal.requests.descriptions import OUTCOMES
from developers.portal.requests.views import status_of_call
from extensions.definitions import Hook, hook_address
from extensions.definitions import hook as read_hook
from extensions.enums import SKIPPED, CallOutcome
from extensions.hooks import breaker, health, simulator
from extensions.hooks.descriptions import DESCRIPTIONS
from extensions.hooks.health import CallRow, Health
from extensions.models import Breaker, Definition, HookCall
from installations.models import Installation
from installations.queries import sandbox_installation
from marketplace.models import App
from stores.hookpoints import BUDGET_SECONDS, HookPoint

HEADROOM: Final = 1.25  # above the timeout: calls end a little later
BAD: Final = '<svg x="{}" y="{}"><rect class="bar bad" x="-4" y="-4" width="8" height="8"></rect></svg>'
GOOD: Final = '<circle class="bar first" cx="{}" cy="{}" r="4"></circle>'
BY_LISTENER: Final = SafeString(' <span class="faint small">listen</span>')
EDGE: Final = 2  # per cent of the width that stays free on each side
CALL_COLUMNS: Final = 5  # of the list of calls
MAX_DATA: Final = 64 * 1024  # characters


@dataclass(frozen=True, slots=True)
class BreakerStatus:
    """A breaker that is open, or counts failures."""

    breaker: Breaker
    is_skipped: bool
    state: str


@dataclass(frozen=True, slots=True)
class HookStatus:
    """A hook with its health. `url` is based on the working copy, and empty without a Webhook URL."""

    definition: Definition
    hook: Hook
    url: str
    health: Health
    breakers: list[BreakerStatus]
    fallback: str
    last: HookCall | None
    switched_off: int  # stores

    @property
    def last_pill(self) -> tuple[str, str, str]:
        """Kind, icon and label of the last call."""
        return OUTCOMES[self.last.outcome] if self.last else ("neutral", "minus", "None")  # type: ignore[index]

    @property
    def share_of_timeout(self) -> int:
        """How much of its timeout all but the slowest 5 % of the calls use, in per cent."""
        p95 = self.health.p95
        return 0 if p95 is None else min(100, round(100 * p95 / self.hook.timeout))

    @property
    def pill(self) -> tuple[str, str, str]:
        """Kind, icon and label."""
        if not self.definition.is_active:
            return "neutral", "minus", "Not in the manifest"
        if any(each.breaker.open_until for each in self.breakers):
            return "bad", "pause", "Skipped in some stores"
        if not self.health.asked:
            return "neutral", "minus", "Not called yet"
        if self.breakers:
            return "warn", "triangle-alert", "Failing"
        since = self.health.works_since
        return "ok", "check", f"Working since {lately(since)}" if since else "Working"


def hook_statuses(
    app: App, definitions: Sequence[Definition], last: Mapping[UUID, HookCall] | None = None
) -> list[HookStatus]:
    """Three statements for any number of hooks. `last` are the newest calls, where they are shown."""
    now = timezone.now()
    healths = health.healths_in_all_stores(definitions, now=now)
    off = health.stores_that_switched_off(definitions)
    breakers = defaultdict(list)
    for each in health.troubled(definitions):
        breakers[each.definition_id].append(_breaker_status(each, now))
    return [
        HookStatus(
            definition=definition,
            hook=hook,
            url=hook_address(app.webhook_url, hook.path) if app.webhook_url else "",
            health=healths[definition.pk],
            breakers=breakers[definition.pk],
            fallback=DESCRIPTIONS[hook.point].fallback,
            last=(last or {}).get(definition.pk),
            switched_off=off.get(definition.pk, 0),
        )
        for definition in definitions
        for hook in [read_hook(definition)]
    ]


def _breaker_status(row: Breaker, now: datetime) -> BreakerStatus:
    is_skipped = health.is_paused(row, now)
    if row.open_until is None:
        return BreakerStatus(
            row, is_skipped, f"Called. {row.failures} of {breaker.THRESHOLD} consecutive failures."
        )
    return BreakerStatus(row, is_skipped, "The next call is a trial.")


@require_safe
@app_page
def hook_list(request: HttpRequest, app: App) -> HttpResponse:
    hooks = health.hooks_of(app)
    context = {
        "app": app,
        "hooks": hook_statuses(app, hooks, health.last_calls(hooks)),
        "budget": f"{BUDGET_SECONDS:g} seconds",
        "breaker_rule": breaker.RULE,
    }
    return render(request, "developers/portal/hooks/list.html", context)


@require_safe
@app_page
def hook_page(request: HttpRequest, app: App, point: str) -> HttpResponse:
    definition = health.own_hook(app, point)
    sandbox = Business.objects.sandbox_of(current_developer(request))
    order = health.running_order(sandbox, HookPoint(point), app)
    calls = health.newest_calls(definition)
    dots = dots_of(calls, read_hook(definition).timeout)
    links = {each.pk: address("portal:hook_call", app.slug, point, each.pk) for each in calls}
    context = {
        "app": app,
        "order": order,
        "is_in_order": any(turn.is_own for turn in order),
        "hook_status": hook_statuses(app, [definition])[0],
        "calls": by_day(
            [_call_row(each, links[each.pk]) for each in calls],
            [each.called_at for each in calls],
            CALL_COLUMNS,
        ),
        "first_day": first_day(calls[0].called_at if calls else None),
        "dots": dots,
        "dot_rows": dots.rows(links) if dots else (),
    }
    return render(request, "developers/portal/hooks/hook.html", context)


def _call_row(call: CallRow, url: str) -> dict[str, Any]:
    """A call as the list writes it."""
    return {
        "outcome": status_of_call(call.outcome, call.http_status),
        "url": url,
        "called": row_moment(call.called_at),
        "test": test_dot() if call.is_test else "",
        "store": call.store,
        "duration": f"{thousands(call.duration_ms)} ms",
        "by": BY_LISTENER if call.by_listener else "",
        "fallback": call.fallback or nothing(),
    }


@require_safe
@app_page
def hook_call(request: HttpRequest, app: App, point: str, call_id: str) -> HttpResponse:
    definition = health.own_hook(app, point)
    call = health.own_call(definition, call_id)
    kind, icon, label = OUTCOMES[call.outcome]  # type: ignore[index]
    context = {
        "app": app,
        "definition": definition,
        "call": call,
        "kind": kind,
        "icon_name": icon,
        "label": label,
        "was_made": call.outcome not in SKIPPED,
        "request_body": indented(call.request_body),
        "answer": indented(call.answer_excerpt),
    }
    return render(request, "developers/portal/hooks/call.html", context)


@require_POST
@app_page
def hook_reset(request: HttpRequest, app: App, point: str, installation_id: str) -> HttpResponse:
    """Resumes calls of the hook for one installation."""
    definition = health.own_hook(app, point)
    active = Installation.objects.active().with_app().filter(app=app)
    installation = get_or_not_found(active, installation_id, "Installation not found")
    breaker.reset(installation=installation, definition=definition)
    messages.success(request, f"Reset. {installation.business.name} calls the hook again.")
    return redirect("portal:hook", app.slug, point)


class TrialForm(forms.Form):
    request_data = forms.CharField(
        help_text="The field data of the request, as JSON.",
        max_length=MAX_DATA,
        widget=forms.Textarea({"class": "code-text", "rows": 12, "spellcheck": "false"}),
    )

    def clean_request_data(self) -> dict[str, Any]:
        written = self.cleaned_data["request_data"].encode(errors="surrogatepass")
        try:
            data = orjson.loads(written)
        except orjson.JSONDecodeError as error:
            raise forms.ValidationError(f"Enter valid JSON: {error}.") from None
        if not isinstance(data, dict):
            raise forms.ValidationError("Enter a JSON object: it begins with { and ends with }.")
        if is_too_deep(written, data):
            raise forms.ValidationError(f"Enter JSON that is nested at most {MAX_DEPTH} levels deep.")
        return data


@may_wait_for_strangers
@require_http_methods(GET_OR_POST)
@app_page
def hook_try(request: HttpRequest, app: App, point: str) -> HttpResponse:
    """Waits for the app's server, at most as long as the hook's timeout."""
    definition = health.own_hook(app, point)
    installation = sandbox_installation(app=app, developer=current_developer(request))
    hook_point = HookPoint(point)
    example = _pretty(simulator.example_data(hook_point, installation))
    form = TrialForm(typed(request), initial={"request_data": example})
    context = {
        "app": app,
        "hook_status": hook_statuses(app, [definition])[0],
        "installation": installation,
        "form": form,
        "expected": _pretty(simulator.example_answer(hook_point)),
    }
    status = 200
    if request.method == "POST":
        status = _try(context, form, definition, installation) if installation else UNPROCESSABLE
    return render(request, "developers/portal/hooks/try.html", context, status=status)


def _try(context: dict[str, Any], form: TrialForm, definition: Definition, installation: Installation) -> int:
    """The page's status. Adds the response to the context."""
    if not form.is_valid():
        return UNPROCESSABLE
    try:
        trial = simulator.try_hook(
            definition=definition, installation=installation, data=form.cleaned_data["request_data"]
        )
    except ServiceError as error:
        form.add_error(None, error.message)
        return error.status
    body = trial.exchange.body.decode("utf-8", "replace")
    headers = "\n".join(f"{name}: {value}" for name, value in trial.headers.items())
    context |= {"trial": trial, "answer": body, "headers": headers}
    return 200


def _pretty(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


# The newest calls of a hook as dots over time, against its timeout.


@dataclass(frozen=True, slots=True)
class Dot:
    """A call that was made. `x` and `y` are in per cent of the plot."""

    call: CallRow
    x: str
    y: str

    @property
    def is_bad(self) -> bool:
        return self.call.outcome != CallOutcome.ANSWERED

    @property
    def shape(self) -> SafeString:
        shape = BAD if self.is_bad else GOOD
        return SafeString(shape.format(self.x, self.y))  # figures of ours

    @property
    def title(self) -> str:
        local = timezone.localtime(self.call.called_at)
        label = CallOutcome(self.call.outcome).label
        return f"{local.day} {local:%b, %H:%M:%S}: {label}, {thousands(self.call.duration_ms)} ms"


@dataclass(frozen=True, slots=True)
class Dots:
    """The oldest first. `timeout_y` is the line's height."""

    dots: tuple[Dot, ...]
    timeout_y: str
    timeout: int

    def rows(self, links: Mapping[UUID, str]) -> list[dict[str, Any]]:
        """Each with its link, as the template writes them."""
        return [{"url": links[each.call.pk], "title": each.title, "shape": each.shape} for each in self.dots]

    @property
    def failed(self) -> int:
        return sum(each.is_bad for each in self.dots)


def dots_of(calls: Sequence[CallRow], timeout: int) -> Dots | None:
    """None without a call that was made: a skipped one took no time."""
    made = sorted((each for each in calls if each.outcome not in SKIPPED), key=lambda each: each.called_at)
    if not made:
        return None
    top = max(timeout, *(each.duration_ms for each in made)) * HEADROOM
    first, last = made[0].called_at, made[-1].called_at
    span = (last - first).total_seconds() or 1.0
    return Dots(
        tuple(
            Dot(
                each,
                _percent(EDGE + (100 - 2 * EDGE) * (each.called_at - first).total_seconds() / span),
                _percent(100 - 100 * each.duration_ms / top),
            )
            for each in made
        ),
        _percent(100 - 100 * timeout / top),
        timeout,
    )


def _percent(number: float) -> str:
    return f"{round(number, 2):g}%"
