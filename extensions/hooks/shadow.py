"""Shadow: while a release rolls, the hooks of its version are asked beside those that stores run (docs/decisions/0112).

The answers are judged as any other, recorded, and used for nothing. A checkout only leaves its question in memory, once it has the
answer that it uses. A thread of the process asks: it looks up what the store runs at that moment, so that an uninstall, a pause, a
switch, a halt and the store's own step end it at once. Whatever is too much is dropped.
"""

import atexit
import logging
import os
from collections import Counter, deque
from concurrent.futures import Future
from dataclasses import dataclass
from functools import lru_cache
from time import monotonic, time
from typing import Any, Final
from uuid import UUID

import redis
from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.utils import timezone

from common import tracing
from common.http.exchanges import Exchange
from common.processes.write_behind import WriteBehind
from common.web.limits.rate_limits import counter
from extensions.addresses import hook_address
from extensions.enums import CallOutcome
from extensions.hooks.calling import Call, SignedRequest, begin, compose, judged
from extensions.hooks.ledger import shortened
from extensions.hooks.live import LiveHook
from extensions.models import ExtensionState, LiveDefinition, ShadowCall
from extensions.releases.sequential import Calls
from installations.models import Installation
from marketplace.enums import ReleaseState
from marketplace.models import Release, Submission
from stores.hookpoints import HookPoint, HookRequest

log = logging.getLogger(__name__)

HEADER: Final = "X-Webhook-Shadow"
FOR_STORE: Final = 10  # calls a minute
FOR_APP: Final = 30  # calls a minute
MOST_WAITING: Final = 200  # in a process
MOST_UNDER_WAY: Final = 50  # in a process
LONGEST_WAIT: Final = 5.0  # seconds until a question is asked; older ones are dropped
COUNTED: Final = 10_000  # calls at most
SHOWN: Final = 20  # calls that failed


@dataclass(frozen=True, slots=True)
class _Question:
    request: HookRequest
    hook: LiveHook
    version: UUID  # which rolls
    trace: tracing.Trace
    since: float  # of `time.monotonic`


@dataclass(frozen=True, slots=True)
class _UnderWay:
    question: _Question
    pending: Future[Exchange]
    call: ShadowCall
    seconds: float


class ShadowCalls(WriteBehind):
    """The questions that wait in this process, and the calls under way."""

    name = "shadow-hook-calls"

    def __init__(self) -> None:
        super().__init__()
        self._waiting: deque[_Question] = deque()
        self.under_way: list[_UnderWay] = []

    @property
    def has_work(self) -> bool:
        return bool(self._waiting) or any(_is_over(asked) for asked in self.under_way)

    @property
    def looks_again(self) -> bool:
        return bool(self.under_way)

    def put(self, question: _Question) -> None:
        if len(self._waiting) < MOST_WAITING:
            self._waiting.append(question)
        self.start()

    def stop(self) -> None:
        """Nothing is asked at the end of the process."""
        self._waiting.clear()
        super().stop()

    def write_batch(self) -> int:
        """Ask what waits, and write down the calls that are over. A failure costs only the question or the call that had it."""
        while self._waiting:
            question = self._waiting.popleft()
            if monotonic() - question.since > LONGEST_WAIT or len(self.under_way) >= MOST_UNDER_WAY:
                continue
            try:
                self._ask(question)
            except Exception:
                log.exception("A hook of %s could not be asked in the shadow.", question.hook.slug)
        over = [asked for asked in self.under_way if _is_over(asked)]
        self.under_way = [asked for asked in self.under_way if asked not in over]
        try:
            ShadowCall.objects.bulk_create(filter(None, map(_judged, over)))
        except Exception:
            log.exception("%d calls in the shadow could not be recorded.", len(over))
        return len(over)

    def _ask(self, question: _Question) -> None:
        hook, request, version = question.hook, question.request, question.version
        form = _form_of(hook, version) if _is_wanted(version) else None
        if form is None or not _has_budget(hook):
            return
        content, webhook_url = form
        now, seconds = timezone.now(), content["timeout"] / 1000
        signed = compose(
            point=request.point,
            business_id=request.business.pk,
            data=request.data,
            secret=hook.secret,
            now=now,
        )
        signed = SignedRequest(signed.body, {**signed.headers, **question.trace.headers(), HEADER: "true"})
        pending = begin(request.point, hook_address(webhook_url, content["url"]), signed, seconds=seconds)
        call = ShadowCall(
            version_id=version,
            installation_id=hook.installation_id,
            hook_point=request.point,
            called_at=now,
            request_id=question.trace.request_id,
        )
        self.under_way.append(_UnderWay(question, pending, call, seconds))


def ask_later(request: HookRequest, calls: list[Call]) -> None:
    """Have the hooks asked that a release brings to the store, once it has the answers of those that it runs. Never waits.

    A payment is never made twice.
    """
    if request.point == HookPoint.CREATE_PAYMENT:
        return
    for call in calls:
        version = call.hook.rolling_id
        if version is not None:
            _shadow.put(_Question(request, call.hook, version, tracing.current_or_new(), monotonic()))


@lru_cache(4096)
def _is_wanted(version: UUID) -> bool:
    """Whether it was submitted so, which never changes."""
    return Submission.objects.filter(approved_version=version, shadow=True).exists()


def _form_of(hook: LiveHook, version: UUID) -> tuple[dict[str, Any], str] | None:
    """What the store would run if the release reached it now, without a question to its merchant: the hook's content and the Webhook
    URL. None: nothing, or the release doesn't roll, or reaches the store already. One statement.
    """
    off = ExtensionState.objects.filter(
        installation=OuterRef("pk"), definition=hook.definition_id, is_on=False
    )
    form = LiveDefinition.objects.filter(
        definition=hook.definition_id, version=OuterRef("agreed_version"), in_release=True
    )
    found = Installation.objects.running().filter(
        ~Exists(off),
        pk=hook.installation_id,
        app__rolling_version=version,
        app__rolling_version__release__state=ReleaseState.ROLLING,
    )
    outside = found.exclude(followed_version=version).annotate(form=Subquery(form.values("content")))
    rows = outside.values_list("form", "app__rolling_version__webhook_url")
    content, webhook_url = rows.first() or (None, "")
    return (content, webhook_url) if content and webhook_url else None


def _has_budget(hook: LiveHook) -> bool:
    """Count it for its store and its app. A developer's server must not get twice the calls, so none is made where they can't be
    counted.
    """
    budgets = ((f"shadow-store:{hook.installation_id}", FOR_STORE), (f"shadow-app:{hook.app_id}", FOR_APP))
    try:
        return all(counter().count(bucket, int(time()))[0] <= limit for bucket, limit in budgets)
    except redis.RedisError:
        return False


def _is_over(asked: _UnderWay) -> bool:
    return asked.pending.done()


def _judged(asked: _UnderWay) -> ShadowCall | None:
    """With its outcome. None if the process broke it off."""
    call, question = asked.call, asked.question
    try:
        exchange = asked.pending.result(0)
    except Exception:
        return None
    judgement = judged(
        question.request.point, question.hook, exchange, seconds=asked.seconds, called_at=call.called_at
    )
    call.duration_ms, call.http_status = judgement.duration_ms, judgement.http_status
    call.outcome, call.problem = judgement.outcome, shortened(judgement.problem)
    return call


# Figures


@dataclass(frozen=True, slots=True)
class ShadowFigures:
    """Of the newest 10,000 calls of a version. `p95` is in milliseconds."""

    asked: int
    invalid: int
    p95: int | None


def figures_of(release: Release) -> ShadowFigures | None:
    """None if it wasn't submitted with a shadow. At most two statements."""
    if not _is_wanted(release.version_id):
        return None
    newest = _calls_of(release).values_list("outcome", "duration_ms")[:COUNTED]
    outcomes, times = zip(*newest, strict=True) if newest else ((), ())
    failed = sum(outcome != CallOutcome.ANSWERED for outcome in outcomes)
    calls = Calls(Counter(times), failed)
    return ShadowFigures(calls.number, calls.failed, calls.p95)


def failures_of(release: Release) -> list[ShadowCall]:
    """The newest 20 of its newest 10,000 calls, each with its store. One statement."""
    newest = _calls_of(release).values("pk")[:COUNTED]
    failed = ShadowCall.objects.filter(pk__in=newest).exclude(outcome=CallOutcome.ANSWERED)
    rows = failed.select_related("installation__business").defer("installation__webhook_secret")
    return list(rows.order_by("-id")[:SHOWN])


def _calls_of(release: Release) -> QuerySet[ShadowCall]:
    return ShadowCall.objects.filter(version=release.version_id).order_by("-id")


# The process

_shadow = ShadowCalls()


def waiting() -> ShadowCalls:
    """What waits in this process."""
    return _shadow


def _forked() -> None:
    """A child process has no thread yet, and its parent asks what waited there."""
    global _shadow
    _shadow = ShadowCalls()


atexit.register(lambda: _shadow.stop())
os.register_at_fork(after_in_child=_forked)
