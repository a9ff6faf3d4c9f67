"""`/metrics` for operators, in the text format of Prometheus."""

import os
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from common import counts
from common.errors import Unauthenticated
from common.web import bearer
from common.web.methods import require_safe
from config import gauges
from config.views import not_found


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Needs `METRICS_TOKEN` as bearer token; a 404 if that isn't set."""
    if not settings.METRICS_TOKEN:
        return not_found(request)
    token = bearer.token_of(request.META.get("HTTP_AUTHORIZATION", ""))
    if not constant_time_compare(token, settings.METRICS_TOKEN):
        raise Unauthenticated("Send METRICS_TOKEN: Authorization: Bearer <token>.")
    text = _of_processes() + generate_latest(gauges.registry())
    return HttpResponse(text, content_type=CONTENT_TYPE_LATEST)


def _of_processes() -> bytes:
    """The counters of this process, or of all processes if they share a directory."""
    folder = Path(os.environ.get("PROMETHEUS_MULTIPROC_DIR", ""))
    if not (folder.name and folder.is_dir()):
        return generate_latest(REGISTRY)
    registry = CollectorRegistry()
    MultiProcessCollector(registry)
    with counts.locked(folder):
        return generate_latest(registry)
