"""Hook calls of a developer's sandbox and test stores that the app's listener answers, on the developer's machine.

The call is a row. The checkout's thread writes it, wakes the listener's request, and waits for the answer in the row for
as long as the hook may take. The listener's request, in any web process, hands it out once: a payment must not be made
twice.
"""

import base64
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic
from typing import Any, Final
from uuid import UUID

from django.db.models import DurationField, ExpressionWrapper, F
from django.db.models.functions import Now

from accounts.models import Business
from common.http.exchanges import Exchange
from common.processes import wakeups
from extensions.hooks.calling import SignedRequest
from extensions.models import RelayedCall
from installations.models import Installation
from marketplace.models import App
from webhooks.engine import listeners

LEFT_OVER: Final = timedelta(minutes=1)  # after its end: the process that waited for it was killed


@dataclass(frozen=True, slots=True)
class Handed:
    """A call for a listener. `timeout` is what is left of the hook's time, in seconds."""

    call_id: UUID
    installation_id: UUID | None  # none where a server of the version before wrote it
    url: str
    headers: Mapping[str, str]
    body: str
    timeout: float


class Relayed:
    """A call that waits for its answer."""

    def __init__(self, call_id: UUID, began: float, seconds: float) -> None:
        self._call_id, self._began, self._end = call_id, began, began + seconds

    def result(self, timeout: float) -> Exchange:
        """The listener's answer, or that the time is over. Removes the row, unless it raises `TimeoutError`."""
        rows, until = RelayedCall.objects.filter(pk=self._call_id), min(self._end, monotonic() + timeout)
        answer = None
        while answer is None and (left := until - monotonic()) > 0:
            wakeups.wait(_wakeup(self._call_id), left)
            answer = rows.values_list("answer", flat=True).first()
        if answer is None and until < self._end:
            raise TimeoutError
        self.cancel()
        duration = round((monotonic() - self._began) * 1000)
        if answer is None:
            return Exchange(None, {}, b"", False, duration, "timeout_response")
        return _exchange(answer, duration)

    def cancel(self) -> None:
        """Accept no answer any longer."""
        RelayedCall.objects.filter(pk=self._call_id).delete()


def listening(business: Business, apps: Collection[UUID]) -> dict[UUID, int]:
    """The slots of the listeners among these apps, by app. No statement unless this is a sandbox store."""
    if not business.is_sandbox:
        return {}
    own = Installation.objects.active().filter(app__in=apps, business=business, is_own=True)
    people = own.values_list("app_id", "installed_by")
    return listeners.find({app: listeners.Own(app, person, business.pk) for app, person in people})


def begin(
    app_id: UUID, installation_id: UUID, slot: int, url: str, request: SignedRequest, *, seconds: float
) -> Relayed:
    """Have the listener make this call."""
    began = monotonic()
    call = RelayedCall.objects.create(
        app_id=app_id,
        installation_id=installation_id,
        url=url,
        headers=list(request.headers.items()),
        body=request.body.decode(),
        ends_at=Now() + timedelta(seconds=seconds),
    )
    wakeups.wake(listeners.wakeup(slot))
    return Relayed(call.pk, began, seconds)


def take(app: App, *, store: UUID | None) -> list[Handed]:
    """The app's calls that are still to be handed out, and that have time left: on a test store, or on those without a listener
    of their own."""
    waiting = RelayedCall.objects.filter(app=app, taken_at=None, ends_at__gt=Now())
    if store:
        waiting = waiting.filter(installation__business=store)
    else:
        waiting = waiting.exclude(installation__business__in=listeners.with_own())
    left = ExpressionWrapper(F("ends_at") - Now(), output_field=DurationField())
    rows = list(waiting.annotate(left=left).order_by("id"))
    return [
        Handed(row.pk, row.installation_id, row.url, dict(row.headers), row.body, row.left.total_seconds())
        for row in rows
        if waiting.filter(pk=row.pk).update(taken_at=Now())
    ]


def answer(app: App, call_id: UUID, exchange: Exchange) -> bool:
    """Give the checkout its answer. False if it has stopped waiting."""
    taken = RelayedCall.objects.filter(pk=call_id, app=app, answer__isnull=True, ends_at__gt=Now())
    if not taken.update(answer=_record(exchange)):
        return False
    wakeups.wake(_wakeup(call_id))
    return True


def remove_left_over() -> int:
    removed, _ = RelayedCall.objects.filter(ends_at__lt=Now() - LEFT_OVER).delete()
    return removed


def _wakeup(call_id: UUID) -> str:
    return f"call:{call_id}"


def _record(exchange: Exchange) -> dict[str, Any]:
    return {
        "status": exchange.status,
        "body": base64.b64encode(exchange.body).decode(),
        "truncated": exchange.truncated,
        "error": exchange.error_class,
    }


def _exchange(answer: Mapping[str, Any], duration: int) -> Exchange:
    body = base64.b64decode(answer["body"])
    return Exchange(answer["status"], {}, body, answer["truncated"], duration, answer["error"])
