"""`/healthz`: this process answers. `/readyz`: database, broker and cache can be reached, and the database is migrated."""

import logging
from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache

from common.db import schema
from common.web.errors import error_response
from common.web.methods import require_safe
from config.celery import app as celery_app
from webhooks.engine.backlog import is_overdue

log = logging.getLogger(__name__)

RETRY_AFTER: Final = 5  # seconds


@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok"})


@require_safe
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """200 if each part is "ok", else a 503 that names those that aren't.

    "deliveries" is for alarms and doesn't change the status: this process can answer while no worker sends.
    """
    parts = {name: _state(name, check) for name, check in CHECKS.items()}
    if away := [name for name, state in parts.items() if state != "ok"]:
        return _not_ready(request, f"Can't be reached right now: {', '.join(away)}.")
    parts["migrations"] = _state("migrations", _migrations)
    if parts["migrations"] != "ok":
        return _not_ready(request, "Not all applied yet: migrations. Run `manage.py migrate`.")
    return JsonResponse({"status": "ok", **parts, "deliveries": _state("deliveries", _deliveries)})


def _not_ready(request: HttpRequest, message: str) -> HttpResponse:
    return error_response(request, 503, message, {"Retry-After": str(RETRY_AFTER)})


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


CHECKS: dict[str, Callable[[], None]] = {"database": _database, "broker": _broker, "cache": _cache}


def _state(name: str, check: Callable[[], None]) -> str:
    try:
        check()
    except Exception:
        log.warning("%s is not ready", name, exc_info=True)
        return "unavailable"
    return "ok"
