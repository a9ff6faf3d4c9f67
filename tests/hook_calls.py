"""A week of hook calls, written as the ledger writes them, for pictures."""

from datetime import timedelta

from django.utils import timezone

from extensions.enums import CallOutcome
from extensions.hooks.breaker import FIRST_PAUSE
from extensions.models import Breaker, Definition, HookCall
from installations.models import Installation

FAILURES = {
    CallOutcome.TIMEOUT: (5000, None, "No answer within 5,000 ms.", ""),
    CallOutcome.HTTP_ERROR: (212, 500, "It answered 500.", "Internal Server Error"),
    CallOutcome.UNEXPECTED: (
        180, 200, "'12.50' is not of type 'integer'", '{"fee": "12.50", "discount": "12.50", "valid": "12.50"}',
    ),
    CallOutcome.BREAKER_OPEN: (0, None, "It failed too often in a row and is skipped for a while.", ""),
}  # fmt: skip


def week(installation: Installation, hook: Definition, *failures: CallOutcome, fallback: str = "") -> None:
    """60 calls that were answered, then these failures, the last of them just now."""
    now = timezone.now()
    answered = [
        HookCall(
            installation=installation, definition=hook, hook_point=hook.key, outcome=CallOutcome.ANSWERED,
            called_at=now - timedelta(hours=2 * number + 1), duration_ms=90 + number * number % 170,
            http_status=200, answer_excerpt='{"fee": 350}',
        )
        for number in range(60)
    ]  # fmt: skip
    failed = [
        HookCall(
            installation=installation, definition=hook, hook_point=hook.key, outcome=outcome,
            called_at=now - timedelta(seconds=7 * (len(failures) - number)), duration_ms=FAILURES[outcome][0],
            http_status=FAILURES[outcome][1], problem=FAILURES[outcome][2],
            answer_excerpt=FAILURES[outcome][3], fallback=fallback,
        )
        for number, outcome in enumerate(failures)
    ]  # fmt: skip
    HookCall.objects.bulk_create(answered + failed)


def stop(installation: Installation, hook: Definition) -> None:
    """Its breaker is open."""
    until = timezone.now() + 20 * FIRST_PAUSE
    opened = {"failures": 9, "opened_times": 5, "open_until": until}
    Breaker.objects.update_or_create(installation=installation, definition=hook, defaults=opened)
