"""Asking the hooks of one point: priority groups one after the other, each side by side, within the flow's time.

    with HookCalls(request) as hook_calls:
        for calls in hook_calls.groups():
            ...combine, and say in each call that failed what the shop does instead...

Breakers and the ledger are written on the way out, whatever happened inside.
"""

import logging
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from time import monotonic
from types import TracebackType
from typing import Any, Final, Self

from django.utils import timezone

from common import strangers
from extensions.enums import CallOutcome
from extensions.hooks import breaker, calling, ledger, relaying
from extensions.hooks.breaker import Admission
from extensions.hooks.live import HookKey, LiveHook, groups, hooks_for
from extensions.hooks.schemas import TELLS_SHOPPER
from extensions.models import Breaker
from stores.buyers import shoppers
from stores.hookpoints import HookRequest

log = logging.getLogger(__name__)

# A call with less time than this left, and less than its own timeout, doesn't count for or against its hook.
FAIR_SHARE: Final = 1.0  # seconds


class HookCalls:
    """`slug` limits this to one app. `calls` are the calls made or skipped so far, in order."""

    def __init__(self, request: HookRequest, *, slug: str = "") -> None:
        self.request = request
        self.calls: list[calling.Call] = []
        self._hooks = hooks_for(request, slug=slug)
        now = timezone.now()
        self._skipped = {hook.key for hook in self._hooks if hook.is_skipped(now)}
        self._breakers: dict[HookKey, Breaker] = breaker.breakers_of(
            hook for hook in self._hooks if hook.key not in self._skipped
        )
        self._made: list[tuple[calling.Call, Admission, float]] = []

    def groups(self) -> Iterator[list[calling.Call]]:
        """The calls of each priority, in the order of the installs. When the caller stops after a group, no later hook is asked."""
        for hooks in groups(self._hooks):
            calls = self._ask(hooks)
            self.calls += calls
            yield calls

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """A failure to record calls must not cost the buyer the order."""
        if self._made:
            self.request.flow.hooks = None  # meanwhile an app may have been uninstalled
        if crowded := sum(call.had_no_place for call in self.calls):
            log.warning(
                "%d hooks of %s were skipped for want of places in store %s",
                crowded,
                self.request.point,
                self.request.business.pk,
            )
        for write in (self._settle, partial(ledger.record, self.request, self.calls)):
            try:
                write()
            except Exception:
                log.exception("Hook calls of %s could not be recorded", self.request.point)

    def _ask(self, hooks: list[LiveHook]) -> list[calling.Call]:
        """All calls are sent before waiting for the first."""
        request, under_way, calls = self.request, {}, {}
        now = timezone.now()
        listening = relaying.listening(request.business, [hook.app_id for hook in hooks])
        for hook in hooks:
            seconds = min(hook.timeout, request.flow.left)
            if not seconds:
                calls[hook.key] = calling.out_of_time(hook, now=now)
                continue
            if not strangers.may_wait(request.business.pk, hook.app_id, about=request.point):
                calls[hook.key] = calling.without_place(hook, now=now)
                continue
            admission = None
            if hook.key not in self._skipped:
                admission = breaker.admit(self._breakers.get(hook.key), timeout=seconds, now=now)
            if admission is None:
                calls[hook.key] = calling.skipped_by_breaker(hook, now=now)
                continue
            composed = calling.compose(
                point=request.point,
                business_id=request.business.pk,
                data=request.data,
                secret=hook.secret,
                now=now,
                attributes=request.flow.buyer.attributes.get(str(hook.app_id), {}),
                shopper=self._shopper(hook),
            )
            pending: calling.Pending
            if slot := listening.get(hook.app_id):
                pending = relaying.begin(
                    hook.app_id, hook.installation_id, slot, hook.url, composed, seconds=seconds
                )
            else:
                pending = calling.begin(request.point, hook.url, composed, seconds=seconds)
            under_way[hook.key] = hook, admission, seconds, composed, pending
        for key, (hook, admission, seconds, sent, pending) in under_way.items():
            call = self._result(hook, pending, seconds, now)
            call.id, call.request_body = sent.call_id, sent.body
            call.by_listener = hook.app_id in listening
            self._made.append((call, admission, seconds))
            calls[key] = call
        return [calls[hook.key] for hook in hooks]

    def _shopper(self, hook: LiveHook) -> dict[str, Any] | None:
        """The person who orders, by the key of this installation. The person is looked for once in a flow, and only where an app may know."""
        request, flow = self.request, self.request.flow
        if request.point not in TELLS_SHOPPER or not hook.reads_orders:
            return None
        if flow.shopper is None:
            flow.shopper = shoppers.seen(business=request.business, buyer=flow.buyer)
        return flow.shopper.payload(hook.installation_id) if flow.shopper else None

    def _result(
        self, hook: LiveHook, pending: calling.Pending, seconds: float, now: datetime
    ) -> calling.Call:
        request, began = self.request, monotonic()
        try:
            exchange = strangers.result(pending, request.business.pk, hook.app_id, about=request.point)
        except strangers.NoPlace:
            return calling.without_place(hook, now=now, duration_ms=round((monotonic() - began) * 1000))
        return calling.judged(request.point, hook, exchange, seconds=seconds, called_at=now)

    def _settle(self) -> None:
        """Report the results of the calls to the breakers."""
        now = timezone.now()
        for call, admission, seconds in self._made:
            if call.answer is not None:
                breaker.succeeded(call.hook.key, admission, now=now)
            elif call.outcome == CallOutcome.NO_TIME_LEFT or (
                call.outcome == CallOutcome.TIMEOUT and seconds < min(call.hook.timeout, FAIR_SHARE)
            ):
                breaker.undecided(call.hook.key, admission)
            else:
                breaker.failed(call.hook.key, admission, now=now)
