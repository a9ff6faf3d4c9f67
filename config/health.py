"""`/healthz`: this process answers. `/readyz`: database, broker and cache can be reached, and the database is migrated. `/metrics` of a web
server; `common.observability.exposition` has those of workers and the scheduler.
"""

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from prometheus_client import CONTENT_TYPE_LATEST

from common.db import schema
from common.errors import Unauthenticated
from common.observability import exposition
from common.web.errors import error_response
from common.web.methods import require_safe
from config.celery import app as celery_app
from config.pages.views import not_found
from webhooks.insight.backlog import is_overdue

log = logging.getLogger(__name__)

RETRY_AFTER: Final = 5  # seconds


@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok"})


@require_safe
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """200 with the state of each part: "ok" or "unavailable". A 503 names those without which nothing can be served.

    Cache and broker aren't among these: another machine lacks them, too. With `?strict`, for alarms, each part is.
    """
    strict = "strict" in request.GET
    others = {name: _asked(name, check) for name, check in SHARED.items()}
    found = {name: _tried(check) for name, check in NEEDED.items()}
    found |= {name: _result(future, PATIENCE if strict else HASTE) for name, future in others.items()}
    found["deliveries"] = None if found["database"] else _tried(_deliveries)
    parts = {name: _state(name, error) for name, error in found.items()}
    if away := [name for name, state in parts.items() if state != "ok" and (strict or name in NEEDED)]:
        return _not_ready(request, away)
    return JsonResponse({"status": "ok"} | parts)


def _not_ready(request: HttpRequest, away: list[str]) -> HttpResponse:
    unreached = [name for name in away if name not in REASONS]
    reasons = [f"Can't be reached right now: {', '.join(unreached)}."] if unreached else []
    # While a database is away, its missing migrations are unknown.
    reasons += [text for name, text in REASONS.items() if name in away and "database" not in away]
    code = "database_unreachable" if "database" in away else "unavailable"
    headers = {"Retry-After": str(RETRY_AFTER)}
    response = error_response(request, 503, " ".join(reasons), headers, code=code)
    response._has_been_logged = True  # type: ignore[attr-defined]  # noqa: SLF001  else Django logs each as an error
    return response


def _database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _migrations() -> None:
    if not schema.is_complete():
        raise RuntimeError("the database lacks migrations of this release")


def _cache() -> None:
    cache.set("readyz", 1, timeout=5)
    if cache.get("readyz") != 1:
        raise RuntimeError("the cache does not keep what it is given")


def _broker() -> None:
    if settings.CELERY_BROKER_URL.startswith("memory:"):
        return  # the broker is in this process
    with celery_app.connection_for_write() as broker:
        broker.ensure_connection(max_retries=1, timeout=2)


def _deliveries() -> None:
    if is_overdue(timezone.now()):
        raise RuntimeError("deliveries that could be sent have been due for a minute")


Check = Callable[[], None]
NEEDED: Final[dict[str, Check]] = {"database": _database, "migrations": _migrations}
SHARED: Final[dict[str, Check]] = {"broker": _broker, "cache": _cache}
REASONS: Final = {
    "migrations": "Not all applied yet: migrations. Run `manage.py migrate`.",
    "deliveries": "Due for over a minute: deliveries.",
}
POOL: Final = ThreadPoolExecutor(len(SHARED), thread_name_prefix="readyz")
_running: "Final[dict[str, Future[Exception | None]]]" = {}
# Seconds to wait for cache and broker: load balancers wait for one, alarms for longer.
HASTE: Final = 0.5
PATIENCE: Final = 5.0


def _tried(check: Check) -> Exception | None:
    try:
        check()
    except Exception as error:
        return error
    return None


def _asked(name: str, check: Check) -> "Future[Exception | None]":
    """The check that runs already, if there is one: however many ask, a silent server is waited for once."""
    running = _running.get(name)
    if running is None or running.done():
        running = _running[name] = POOL.submit(_tried, check)
    return running


def _result(future: "Future[Exception | None]", seconds: float) -> Exception | None:
    try:
        return future.result(seconds)
    except TimeoutError as error:
        return error


_states: Final[dict[str, str]] = {}  # as they were logged last


def _state(name: str, error: Exception | None) -> str:
    """Logs each change once, however often it is asked."""
    state = "unavailable" if error else "ok"
    before = _states.get(name, "ok")
    _states[name] = state
    if error and before == "ok":
        log.warning("%s is not ready: %s: %s", name, type(error).__name__, error)
    elif before != state:
        log.warning("%s is ready again", name)
    return state


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Needs `METRICS_TOKEN` as bearer token; a 404 if that isn't set."""
    if not settings.METRICS_TOKEN:
        return not_found(request)
    if not exposition.is_operator(request.META):
        raise Unauthenticated("Send METRICS_TOKEN: Authorization: Bearer <token>.")
    return HttpResponse(exposition.text(), content_type=CONTENT_TYPE_LATEST)
