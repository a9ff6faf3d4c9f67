"""`/metrics` for operators, in the text format of Prometheus."""

import logging
import os
from collections.abc import Iterator

from django.conf import settings
from django.db import Error
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, Metric, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from common.errors import Unauthenticated
from config.views import not_found
from webhooks.engine.backlog import COUNTED, backlog
from webhooks.services.audit import last_audit

log = logging.getLogger(__name__)


@csrf_exempt
@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Needs `METRICS_TOKEN` as bearer token; a 404 if that isn't set."""
    if not settings.METRICS_TOKEN:
        return not_found(request)
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not constant_time_compare(token.strip(), settings.METRICS_TOKEN):
        raise Unauthenticated("Send METRICS_TOKEN: Authorization: Bearer <token>.")
    text = generate_latest(_of_processes()) + generate_latest(_of_the_database())
    return HttpResponse(text, content_type=CONTENT_TYPE_LATEST)


def _of_processes() -> CollectorRegistry:
    """The counters of this process, or of all processes if they share a directory."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return REGISTRY
    registry = CollectorRegistry()
    MultiProcessCollector(registry)
    return registry


def _of_the_database() -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(_Deliveries())
    registry.register(_Audit())
    return registry


class _Deliveries(Collector):
    """Figures from the database. Left out while it is away, when the counters are needed most."""

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        try:
            found = backlog(timezone.now())
        except Error as error:
            log.warning("The metrics lack the deliveries: %s", error)
            return
        name = "extension_platform_deliveries"
        yield GaugeMetricFamily(
            f"{name}_due", f"Due and not being sent; counted up to {COUNTED}.", value=found.due
        )
        yield GaugeMetricFamily(
            f"{name}_oldest_due_seconds",
            "Since the first became due whose endpoint could take it now.",
            value=found.waited.total_seconds(),
        )
        yield GaugeMetricFamily(
            "extension_platform_dispatchers", "Dispatchers that take on deliveries.", value=found.dispatchers
        )


class _Audit(Collector):
    """What the nightly audit found; left out without a run within two days, or while the cache is away."""

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        try:
            found = last_audit()
        except Exception as error:  # whatever the cache's client raises
            log.warning("The metrics lack the audit: %s", error)
            return
        family = GaugeMetricFamily(
            "extension_platform_misplaced_rows",
            "Rows that the nightly audit found without their counterpart or partition.",
            labels=["kind"],
        )
        for kind, count in found.items():
            family.add_metric([kind], count)
        yield family
