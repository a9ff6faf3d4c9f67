"""Runs that the platform performs itself, whose findings are evidence."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from django.utils import timezone

from common import strangers
from common.db.transactions import forbid_transaction
from common.http import transport
from common.http.exchanges import Exchange
from conformance.enums import RunStatus, Sender
from conformance.models import Run
from conformance.probes import AppResponse, Probe
from conformance.services.runs import LONGEST, admit, advance, pending, start
from marketplace.models import App, AppVersion
from webhooks.insight.diagnosis import in_short

ON_A_PAGE: Final = timedelta(seconds=15)  # while somebody waits for it


def check_for_developer(app: App) -> Run:
    """Perform a run at its registered URLs for the developer, who waits for it. It is no evidence in a review.

    One at a time. Raises `Conflict`, `TooManyRequests` and `strangers.NoPlace`.
    """
    strangers.require(app.pk)
    admit(app, Sender.PLATFORM, most=1)
    return check_app(app=app, lasts=ON_A_PAGE)


def check_app(
    *,
    app: App,
    version: AppVersion | None = None,
    sender: Sender = Sender.PLATFORM,
    origin: str = "",
    lasts: timedelta = LONGEST,
    now: datetime | None = None,
) -> Run:
    """Perform a whole run, of the working copy or an approved version, and return it. Not inside a transaction.

    Raises `Conflict` for a suspended app.
    """
    forbid_transaction()
    run = start(app=app, version=version, sender=sender, origin=origin, lasts=lasts, now=now)
    while run.status == RunStatus.RUNNING:
        probes = pending(run)
        left = (run.deadline_at - timezone.now()).total_seconds()
        run = advance(
            run=run,
            step=run.step,
            answers=dict(zip((each.name for each in probes), send(probes, left, app), strict=True)),
        )
    return run


def send(probes: Sequence[Probe], seconds: float, app: App) -> list[AppResponse]:
    """Send all at once. None of them takes longer than `seconds`. Raises `strangers.NoPlace`, and breaks off all of them then."""
    under_way = [_submit(probe, max(0.1, min(probe.seconds, seconds))) for probe in probes]
    try:
        return [_answer(strangers.result(exchange, app.pk)) for exchange in under_way]
    finally:
        for exchange in under_way:
            exchange.cancel()  # does nothing to one that has ended


def _submit(probe: Probe, seconds: float) -> transport.Coming:
    return transport.submit(
        probe.url,
        method="GET" if probe.method == "GET" else "POST",
        headers=probe.headers,
        body=probe.body.encode(),
        timeout=seconds,
        max_body=probe.max_body,
    )


def _answer(exchange: Exchange) -> AppResponse:
    return AppResponse(
        status=exchange.status,
        headers=exchange.headers,
        body=exchange.body.decode("utf-8", "replace").replace("\x00", ""),
        duration_ms=exchange.duration_ms,
        error="" if exchange.status is not None else in_short(None, exchange.error_class or ""),
    )
