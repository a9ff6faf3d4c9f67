"""What protects deliveries from each fault, as changes of the source that take it out.

`make test-faults-unprotected` runs each fault test once without each protection that it names, and demands that it
fails: a test that passes either way would prove nothing. Only processes that the tests start are changed.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Final

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Change:
    """Replaces `old`, which must stand in the module's source, by `new`."""

    module: str
    old: str
    new: str


PROTECTIONS: Final = {
    "leases that run out": Change(
        "webhooks.claims",
        "expired = Delivery.objects.filter(status__in=WAITING, lease_until__lte=now)",
        "expired = Delivery.objects.none()",
    ),
    "sweep by beat": Change(
        "config.settings",
        '"task": "webhooks.tasks.dispatch",\n        "schedule": 1.0,',
        '"task": "webhooks.tasks.dispatch",\n        "schedule": 3600.0,',
    ),
    "outbox": Change(
        "webhooks.services.publishing",
        "transaction.on_commit(kick, robust=True)",
        "from webhooks import transport\n"
        "        for webhook in Webhook.objects.filter(id__in=listeners):\n"
        "            transport.submit(webhook.url, headers={}, body=event.data.encode())",
    ),
    "hint in a thread of its own": Change(
        "webhooks.services.publishing",
        "transaction.on_commit(kick, robust=True)",
        "from webhooks.tasks import dispatch\n        transaction.on_commit(lambda: dispatch.apply_async())",
    ),
    "watch of each worker": Change(
        "webhooks.apps", "from webhooks import receivers, watch", "from webhooks import receivers"
    ),
    "rate limit that fails open": Change(
        "common.rate_limits", "except redis.RedisError as error:", "except ZeroDivisionError as error:"
    ),
    "results kept over an outage": Change(
        "webhooks.dispatcher",
        "except (OperationalError, InterfaceError) as error:",
        "except ZeroDivisionError as error:",
    ),
    "row locks of a claim": Change(
        "webhooks.claims",
        "lease_until IS NULL\n        FOR UPDATE SKIP LOCKED",
        "lease_until IS NULL",
    ),
    "shares of an endpoint": Change(
        "webhooks.turns",
        "WHEN crowded.host IS NOT NULL THEN 0",
        "WHEN TRUE THEN 1000",
    ),
    "fence": Change(
        "webhooks.claims",
        "delivery.fence = due.fence AND ",
        "",
    ),
    "total deadline": Change(
        "webhooks.transport", "asyncio.timeout(timeout)", "asyncio.timeout(timeout + 5)"
    ),
    "budget of a look-up": Change(
        "webhooks.connections", "asyncio.timeout(DNS_BUDGET)", "asyncio.timeout(None)"
    ),
    "success by the status alone": Change(
        "webhooks.transport",
        "status, error = self.answer.status, _status_class(self.answer.status)",
        "status, error = self.answer.status, error or _status_class(self.answer.status)",
    ),
    "end of reading at 16 KiB": Change(
        "webhooks.transport", "while len(self.body) <= limit:", "while len(self.body) <= limit + 2**21:"
    ),
    "answers left packed": Change("webhooks.transport", "auto_decompress=False", "auto_decompress=True"),
    "redirects not followed": Change("webhooks.transport", "allow_redirects=False", "allow_redirects=True"),
    "vetted addresses": Change(
        "common.addresses", "return is_global_unicast(ip) or (allow_local and is_loopback(ip))", "return True"
    ),
    "vetting of the very socket": Change(
        "webhooks.connections",
        "if not _is_allowed(str(address[0])):",
        "if False:",
    ),
    "sent again on a dead connection": Change(
        "webhooks.transport", "if not attempt.progress.died_unanswered():", "if True:"
    ),
    "judgement at each attempt": Change(
        "webhooks.outbox", "if may_receive(webhook, event.type):", "if True:"
    ),
    "erasure after the end": Change(
        "webhooks.queries", "if event_type == catalogue.DATA_ERASURE:", "if False:"
    ),
    "alarm of an overdue erasure": Change("webhooks.services.erasure", "    _alarm(now)\n", ""),
    "guard against our own outage": Change(
        "webhooks.outage",
        "if missed >= HOSTS and missed >= SHARE * count:\n                return True",
        "if False:\n                return True",
    ),
    "budget of a flow's hooks": Change(
        "extensions.hooks.asking", "min(hook.timeout, question.budget.left)", "hook.timeout"
    ),
    "breaker of a hook": Change(
        "extensions.hooks.breaker", "    if breaker.open_until is None:\n", "    if True:\n"
    ),
    "check of an answer": Change(
        "extensions.hooks.answers", "for problem in problems_of(point, answer):", "for problem in ():"
    ),
    "comparison of the clocks": Change("webhooks.dispatcher", "            self._clock.compare()\n", ""),
}


def unprotected_source(change: Change) -> bytes:
    """The module's source without the protection. Raises LookupError where the source has changed."""
    source = (ROOT / Path(*change.module.split("."))).with_suffix(".py").read_text()
    if source.count(change.old) != 1:
        raise LookupError(f"{change.module} does not have this once: {change.old}")
    return source.replace(change.old, change.new).encode()


def take_out(name: str) -> None:
    """Have the protection's module imported without it. To be called before anything imports the module."""
    change = PROTECTIONS[name]
    assert change.module not in sys.modules, f"{change.module} is there already."
    sys.meta_path.insert(0, _Finder(change))


class _Finder:
    def __init__(self, change: Change) -> None:
        self._change = change

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self._change.module:
            return None
        spec = PathFinder.find_spec(name, path, target)
        assert spec is not None
        assert spec.origin is not None
        spec.loader = _Loader(name, spec.origin, self._change)
        return spec


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, change: Change) -> None:
        super().__init__(name, path)
        self._change = change

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(unprotected_source(self._change), self.path)
