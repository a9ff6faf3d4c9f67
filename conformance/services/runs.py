"""Runs of a check: begun, taken from step to step, ended; those that the platform performs itself, whose findings are evidence; and the
removal of throwaway stores.

A step's requests are kept in the row until their responses come, from the platform's own transport or from a
developer's command line. Both are judged here, by the same code.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from accounts.models import Business
from accounts.services.businesses import open_throwaway_store
from activity.models import ApiCall, DeprecatedUse, StoreScopeUse
from common import strangers
from common.db.rows import for_each, get_or_not_found
from common.db.transactions import forbid_transaction
from common.errors import Conflict, Invalid, TooManyRequests
from common.http import transport
from common.http.exchanges import Exchange
from common.web.limits import consume
from conformance.enums import Outcome, RunStatus, Sender
from conformance.models import Run
from conformance.probes import AppResponse, Probe, findings_of, probe_of
from conformance.rules import RULES
from conformance.steps import STEPS
from conformance.subject import Subject, skipped
from installations.models import Grant, Installation, Trial
from marketplace.models import App, AppVersion
from marketplace.services.locks import lock_app, require_not_suspended
from webhooks.enums import ErasureState
from webhooks.insight.diagnosis import in_short
from webhooks.models import Endpoint, Erasure, Webhook

NEEDS_MORE: Final = "Not tried: something that it needs failed."
LONGEST: Final = timedelta(seconds=90)
MOST_AT_A_TIME: Final = 8  # of one developer
PER_MINUTE: Final = 20  # of one developer
MAX_ORIGIN: Final = 300  # characters
_PORT: Final = "[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]"
ORIGIN: Final = re.compile(rf"https?://[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:({_PORT}))?/?")
GRACE: Final = timedelta(seconds=30)  # after the deadline, for the last responses


def start_for_developer(*, app: App, origin: str, now: datetime | None = None) -> Run:
    """A run whose requests the developer's command line sends to `origin`, or to the registered URLs if that is empty.

    Raises `Invalid` for an origin that isn't one, `Conflict` for a suspended app and if too many runs are under way,
    `TooManyRequests`.
    """
    origin = _origin(origin) if origin else ""
    admit(app, Sender.DEVELOPER, most=MOST_AT_A_TIME)
    return start(app=app, sender=Sender.DEVELOPER, origin=origin, now=now)


def admit(app: App, sender: Sender, *, most: int) -> None:
    """Count a check that the developer starts. Raises `Conflict` if `most` of this kind are running, `TooManyRequests`."""
    running = Run.objects.running().filter(app__in=App.objects.owned_by(app.developer_id), sender=sender)
    if running.count() >= most:
        raise Conflict(
            f"{most} checks are running already. Wait until one has ended."
            if most > 1
            else "A check is running already. Wait until it has ended.",
            code="checks_running",
        )
    state = consume(f"check:{app.developer_id}", limit=PER_MINUTE)
    if not state.allowed:
        raise TooManyRequests(
            f"That is more than {PER_MINUTE} checks a minute. Try again in {state.retry_after} seconds.",
            retry_after=state.retry_after,
            code="too_many_checks",
        )


@transaction.atomic
def start(
    *,
    app: App,
    sender: Sender,
    version: AppVersion | None = None,
    origin: str = "",
    lasts: timedelta = LONGEST,
    now: datetime | None = None,
) -> Run:
    """A run with its throwaway store and the requests of its first step. Raises `Conflict` for a suspended app."""
    now = now or timezone.now()
    locked = lock_app(app)
    require_not_suspended(
        locked, "The app is suspended. It can be checked once a reviewer lifts the suspension."
    )
    deadline = now + lasts
    store = open_throwaway_store(purpose="Check", expires_at=deadline + GRACE, now=now)
    run = Run.objects.create(
        app=locked,
        version=version,
        sender=sender,
        origin=origin,
        store=store,
        started_at=now,
        deadline_at=deadline,
    )
    _prepare_next(run, now)
    return run


def find_run(*, app: App, run_id: object) -> Run:
    """A run that the developer of the app started. Raises `NotFound`."""
    own = Run.objects.select_related("app", "store").filter(app=app, sender=Sender.DEVELOPER)
    return get_or_not_found(own, run_id, "Check not found")


@transaction.atomic
def advance(*, run: Run, step: int, answers: Mapping[str, AppResponse], now: datetime | None = None) -> Run:
    """Judge the responses of a step, and prepare the next one that has requests. After the last one, the run ends.

    Raises `Conflict` if the run has ended or is at another step.
    """
    now = now or timezone.now()
    locked = (
        Run.objects.select_related("app__developer", "store__owner", "version")
        .select_for_update(of=("self",))
        .get(pk=run.pk)
    )
    if locked.status != RunStatus.RUNNING or locked.store is None:
        raise Conflict("This check has ended.", code="check_ended")
    if locked.step != step:
        raise Conflict(
            f"This check is at step {locked.step}, not at step {step}.", code="check_step_mismatch"
        )
    _judge(locked, pending(locked), answers, now)
    _prepare_next(locked, now)
    return locked


def pending(run: Run) -> list[Probe]:
    """The requests to send now."""
    return [probe_of(each) for each in run.pending]


def end_overdue(*, now: datetime | None = None) -> int:
    """End the runs whose command line stopped answering. Returns their number."""
    now = now or timezone.now()
    overdue = Run.objects.running().filter(deadline_at__lt=now - GRACE)
    return overdue.update(status=RunStatus.EXPIRED, ended_at=now, pending=[])


# Steps


def _judge(run: Run, probes: Sequence[Probe], answers: Mapping[str, AppResponse], now: datetime) -> None:
    subject = Subject(run, now)
    step = STEPS[run.step - 1]
    run.findings += [finding.as_json() for finding in step.judge(subject, probes, answers)]


def _prepare_next(run: Run, now: datetime) -> None:
    """Steps without requests are judged at once."""
    run.pending = []
    while not run.pending and run.step < len(STEPS) and now < run.deadline_at:
        step = STEPS[run.step]
        run.step += 1
        subject = Subject(run, now)
        if step.needs_install and subject.installation is None:
            continue
        probes = list(step.prepare(subject))
        if probes:
            run.pending = [probe.as_json() for probe in probes]
        else:
            _judge(run, [], {}, now)
    if not run.pending:
        _end(run, now)
    run.save()


def _end(run: Run, now: datetime) -> None:
    """Every rule has a finding, and one that wasn't tried says so."""
    tried = {finding["rule"] for finding in run.findings}
    is_late = run.step < len(STEPS)
    why = "Not tried: the time was up." if is_late else NEEDS_MORE
    run.findings += [
        finding.as_json() for finding in skipped(why, *(rule for rule in RULES if rule not in tried))
    ]
    failed = any(finding.outcome == Outcome.FAIL for finding in findings_of(run.findings))
    run.status = RunStatus.FAILED if failed or is_late else RunStatus.PASSED
    run.ended_at, run.pending, run.state = now, [], {}


def _origin(text: str) -> str:
    """Scheme, host and port of the server under test. Raises `Invalid`."""
    if not ORIGIN.fullmatch(text):
        raise Invalid.field(
            "url", "Enter the address of your server without a path, such as http://localhost:3000."
        )
    return text.rstrip("/")


# --- Throwaway stores that go ------------------------------------------------------------------------

LINGERS: Final = timedelta(seconds=10)  # in which calls of the app that came last are logged
STORE_KEPT: Final = timedelta(days=30)  # results


def remove_ended(*, now: datetime | None = None) -> int:
    """End overdue runs, delete stores that aren't needed any more, and old results. Returns the number of stores."""
    now = now or timezone.now()
    end_overdue(now=now)
    running = Run.objects.running().exclude(store=None).values("store")
    ended = Q(expires_at__lt=now) | Q(pk__in=Run.objects.filter(ended_at__lt=now - LINGERS).values("store"))
    # The copy of a trial stays until the app has answered the erasure, which goes out when it ends.
    owed = Erasure.objects.of_businesses().filter(
        installation__business=OuterRef("copy"), state__in=(ErasureState.DUE, ErasureState.SENT)
    )
    tried = Trial.objects.filter(Q(ended_at=None) | Exists(owed), copy=OuterRef("pk"))
    stores = Business.objects.filter(ended, ~Exists(tried), expires_at__isnull=False).exclude(pk__in=running)
    removed = for_each(stores, lambda store: _remove(store), task="remove_ended_checks")
    Run.objects.filter(ended_at__lt=now - STORE_KEPT).exclude(status=RunStatus.RUNNING).delete()
    return removed


@transaction.atomic
def _remove(store: Business) -> int:
    installations = list(Installation.objects.filter(business=store).values_list("pk", flat=True))
    for log in (ApiCall, DeprecatedUse, StoreScopeUse):
        log.objects.filter(installation__in=installations).delete()
    # Those of a test store are its own; a check's has that of the app, whose other stores need what is known of it.
    own = Webhook.objects.filter(installation__in=installations, installation__is_own=True)
    Endpoint.objects.filter(pk__in=list(own.values_list("endpoint", flat=True))).delete()
    Grant.objects.filter(business=store).delete()
    Installation.objects.filter(pk__in=installations).delete()
    store.delete()
    return 1


# --- Runs that the platform performs itself ----------------------------------------------------------

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
    lasts: timedelta = LONGEST,
    now: datetime | None = None,
) -> Run:
    """Perform a whole run, of the working copy or an approved version, and return it. Not inside a transaction.

    Raises `Conflict` for a suspended app.
    """
    forbid_transaction()
    run = start(app=app, version=version, sender=sender, lasts=lasts, now=now)
    while run.status == RunStatus.RUNNING:
        probes = pending(run)
        left = (run.deadline_at - timezone.now()).total_seconds()
        run = advance(
            run=run,
            step=run.step,
            answers=dict(zip((each.name for each in probes), send_probes(probes, left, app), strict=True)),
        )
    return run


def send_probes(probes: Sequence[Probe], seconds: float, app: App) -> list[AppResponse]:
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
