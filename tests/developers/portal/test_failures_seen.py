"""What pages show of failures first: of a check, and of a hook's calls."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Business
from conformance.enums import Outcome, RunStatus, Sender
from conformance.models import Run
from conformance.probes import Finding
from conformance.rules import RULES
from conformance.services.runs import NEEDS_MORE
from extensions.enums import CallOutcome
from extensions.models import HookCall
from marketplace.models import App
from tests import factories
from tests.pages import text_of, words_of

pytestmark = pytest.mark.django_db


def test_failed_check_begins_with_what_the_other_rules_need(browser: Client, app: App) -> None:
    first, *others = RULES
    findings = [Finding(first, Outcome.FAIL, "GET /callback: responded 303")]
    findings += [Finding(rule, Outcome.SKIPPED, NEEDS_MORE) for rule in others]
    run = Run.objects.create(
        app=app,
        sender=Sender.PLATFORM,
        status=RunStatus.FAILED,
        findings=[each.as_json() for each in findings],
        deadline_at=timezone.now(),
    )
    page = browser.get(f"/portal/apps/{app.slug}/checks/{run.pk}/")
    words = words_of(page)
    assert f"Start with {first}: {RULES[first].title} GET /callback: responded 303" in words
    assert f"{len(others)} rules need something that failed." in words
    folded = re.findall(r'<details class="more".*?</details>', text_of(page))
    assert f"{len(others)} rules weren’t tried" in folded[0]
    assert all(rule in folded[0] for rule in others)


def test_rules_of_a_server_that_cannot_be_reached_are_one_row(browser: Client, app: App) -> None:
    """By cause, each of which opens to its rules. A rule whose request was answered stays on its own."""
    refused, slow, other = [*RULES][:14], [*RULES][14:16], [*RULES][16]
    findings = [
        Finding(rule, Outcome.FAIL, f"A request (of {rule}): no response (Refused).") for rule in refused
    ]
    findings += [Finding(rule, Outcome.FAIL, "A request: no response (Timeout).") for rule in slow]
    findings.append(Finding(other, Outcome.FAIL, "A request: responded 500 in 3 ms, expected 2xx."))
    findings.append(Finding(refused[0], Outcome.FAIL, "Another: no response (Refused)."))
    run = Run.objects.create(
        app=app,
        sender=Sender.PLATFORM,
        status=RunStatus.FAILED,
        findings=[each.as_json() for each in findings],
        deadline_at=timezone.now(),
    )
    page = text_of(browser.get(f"/portal/apps/{app.slug}/checks/{run.pk}/"))
    rows = re.findall(r"<tr>(.*?)</tr>", page.partition("<tbody>")[2])
    assert len(rows) == 3
    assert "<summary>Your server can’t be reached (Refused): 14 rules</summary>" in rows[0]
    assert all(f">{rule}</a>" in rows[0] for rule in refused)
    assert "<summary>Your server doesn’t answer in time: 2 rules</summary>" in rows[1]
    assert f">{other}</a>" in rows[2]
    assert "<summary>" not in rows[2]


def test_calls_of_a_hook_are_dots_against_its_timeout(browser: Client, app: App, sandbox: Business) -> None:
    installation = factories.installation(app, sandbox)
    hook = factories.hook(app, "order.validate", timeout=2000)
    outcomes = ((CallOutcome.ANSWERED, 500), (CallOutcome.TIMEOUT, 2000), (CallOutcome.BREAKER_OPEN, 0))
    HookCall.objects.bulk_create(
        HookCall(
            installation=installation,
            definition=hook,
            hook_point=hook.key,
            outcome=outcome,
            duration_ms=duration,
            called_at=timezone.now() - timedelta(minutes=number),
        )
        for number, (outcome, duration) in enumerate(outcomes)
    )
    page = text_of(browser.get(f"/portal/apps/{app.slug}/hooks/order.validate/"))
    plot = page[page.index('class="plot"') :]
    plot = plot[: plot.index("</figure>")]
    timeout = re.findall(r'class="noted" x2="100%" y1="([\d.]+)%"', plot)[0]
    answered = re.findall(r'<circle class="bar first" cx="[\d.]+%" cy="([\d.]+)%"', plot)
    failed = re.findall(r'<svg x="[\d.]+%" y="([\d.]+)%">', plot)
    assert [float(y) for y in answered] == [80.0]
    assert failed == [timeout] == ["20"]
    assert "2, of which 1 failed" in page
    assert "Timeout, 2,000 ms" in words_of(browser.get(f"/portal/apps/{app.slug}/hooks/order.validate/"))
