"""Figures of the whole installation, read from the database, the cache, the broker and the public addresses.

The scheduler shows them at `/metrics` (`common.observability.exposition`), and no other process.
"""

import logging
import socket
import ssl
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Final
from urllib.parse import urlsplit

from cryptography import x509
from django.conf import settings
from django.db import connection
from django.utils import timezone
from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily

from accounts.services.sender import outboxes
from common.observability.exposition import NAME, Figures, gauge
from common.observability.exposition import family as labeled
from config.celery import app as celery_app
from config.models import BackupRecord
from config.observability import scheduler_seen
from extensions.hooks.breaker import count_states
from storeapi.health import SILENT_AFTER, silent_stores
from streams.services.batches import progress
from teststores.trials import MOST, trials_by_state
from webhooks.insight.backlog import COUNTED, READ, RECENT, backlog, in_flight, recent_attempts
from webhooks.services.audit import last_audit

ARCHIVED: Final = """
    SELECT failed_count, extract(epoch FROM now() - coalesce(last_archived_time, pg_postmaster_start_time()))
    FROM pg_stat_archiver
"""
IS_ARCHIVED: Final = "current_setting('archive_mode') <> 'off'"


def _deliveries() -> Iterator[Metric]:
    found = backlog(timezone.now())
    yield gauge("deliveries_due", f"Due and not being sent; counted up to {COUNTED}.", found.due)
    yield gauge(
        "deliveries_oldest_due_seconds",
        "Since the first became due whose endpoint could take it now.",
        found.waited.total_seconds(),
    )
    yield gauge("deliveries_in_flight", f"Being sent; counted up to {COUNTED}.", in_flight())
    yield gauge("dispatchers", "Dispatchers that take on deliveries.", found.dispatchers)


def _attempts() -> Iterator[Metric]:
    found = recent_attempts(timezone.now())
    family = labeled(
        "attempts_last_minute",
        f"Attempts of the last {RECENT.seconds} seconds, by what they came to; of the newest {READ}.",
        "outcome",
    )
    for outcome, count in found.by_outcome.items():
        family.add_metric([outcome], count)
    yield family
    if found.lag_p99 is not None:
        yield gauge(
            "deliveries_lag_p99_seconds",
            "Between an event and its first attempt: 99 of 100 of the same attempts took less.",
            found.lag_p99,
        )


def _breakers() -> Iterator[Metric]:
    family = labeled("hook_breakers", "Breakers of hooks that failed, each of one app on one store.", "state")
    for state, count in count_states(timezone.now()).items():
        family.add_metric([state], count)
    yield family


def _sessions() -> Iterator[Metric]:
    """PostgreSQL counts them for all processes."""
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(state, 'unknown') FROM pg_stat_activity WHERE datname = current_database()"
        )
        states = Counter(state for (state,) in cursor.fetchall())
        cursor.execute(
            "SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int"
        )
        (most,) = cursor.fetchone()
    family = labeled("database_sessions", "Sessions of this database, by what they do.", "state")
    for state, count in states.items():
        family.add_metric([state.replace(" ", "_")], count)
    yield family
    yield gauge(
        "database_sessions_limit", "Sessions that the PostgreSQL server allows, of all databases.", most
    )


def _queues() -> Iterator[Metric]:
    if settings.CELERY_BROKER_URL.startswith("memory:"):
        return  # in another process, or in this one
    family = labeled("queue_length", "Tasks that no worker has taken yet.", "queue")
    queue = celery_app.conf.task_default_queue
    with celery_app.connection_for_write() as broker:
        broker.ensure_connection(max_retries=1, timeout=2)
        try:
            waiting = broker.default_channel.queue_declare(queue, passive=True).message_count
        except broker.channel_errors:  # Redis keeps no empty queues
            waiting = 0
    family.add_metric([queue], waiting)
    yield family


def _scheduler() -> Iterator[Metric]:
    age = scheduler_seen.age()
    if age is not None:
        yield gauge("scheduler_heartbeat_age_seconds", "Since the scheduler last sent a task.", age)


def _mails() -> Iterator[Metric]:
    waiting = labeled("mails_waiting", "Mails that are still to be sent.", "kind")
    given_up = labeled(
        "mails_given_up", "Mails that could not be sent for 24 hours, in the last two weeks.", "kind"
    )
    for each in outboxes():
        waiting.add_metric([each.kind], each.waiting)
        given_up.add_metric([each.kind], each.given_up)
    yield from (waiting, given_up)


def _audit() -> Iterator[Metric]:
    """What the nightly audit found, and how long ago."""
    last = last_audit()
    if last is None:
        return
    yield gauge("audit_age_seconds", "Since the nightly audit last came to its end.", last.age)
    family = labeled(
        "misplaced_rows", "Rows that the nightly audit found without their counterpart or partition.", "kind"
    )
    for kind, count in last.found.items():
        family.add_metric([kind], count)
    yield family


def _archiver() -> Iterator[Metric]:
    """How PostgreSQL archives its log. Nothing where it doesn't: a provider may have other ways."""
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        cursor.execute(f"{ARCHIVED} WHERE {IS_ARCHIVED}")
        for failures, age in cursor.fetchall():
            family = CounterMetricFamily(
                f"{NAME}_wal_archive_failures", "Tries to archive a file of PostgreSQL's log that failed."
            )
            family.add_metric([], failures)
            yield family
            yield gauge("wal_archive_age_seconds", "Since a file of PostgreSQL's log was last archived.", age)


def _backups() -> Iterator[Metric]:
    now = timezone.now()
    for record in BackupRecord.objects.all():
        name, description = BACKUP_RECORDS[BackupRecord.What(record.what)]
        yield gauge(name, description, max(0.0, (now - record.at).total_seconds()))


BACKUP_RECORDS: Final = {
    BackupRecord.What.BACKUP: ("backup_age_seconds", "Since the newest good backup ended."),
    BackupRecord.What.DRILL: (
        "restore_drill_age_seconds",
        "Since the last restore for a try that found nothing wrong began.",
    ),
}


def _streams() -> Iterator[Metric]:
    lag = labeled(
        "event_stream_lag_seconds", "Since the oldest event was made that is still to be written.", "stream"
    )
    gaps = labeled(
        "event_stream_gaps", "How often events may have been removed before they were written.", "stream"
    )
    for stream in progress(timezone.now()):
        lag.add_metric([stream.name], stream.lag)
        gaps.add_metric([stream.name], stream.gaps)
    yield from (lag, gaps)


def _connected_shops() -> Iterator[Metric]:
    yield gauge(
        "connected_stores_silent",
        f"Stores of shop systems with apps, whose shop sent nothing for {SILENT_AFTER // timedelta(hours=1)} hours.",
        silent_stores(timezone.now()).count(),
    )


def _trials() -> Iterator[Metric]:
    family = labeled("trials", f"Trials of apps that have not ended; at most {MOST} at once.", "state")
    for state, count in trials_by_state().items():
        family.add_metric([state], count)
    yield family


def _certificates() -> Iterator[Metric]:
    family = labeled("certificate_seconds_left", "Until the certificate ends that a host shows.", "host")
    for host, seconds in certificate_seconds_left().items():
        family.add_metric([host], seconds)
    yield family


SHARED: Final[dict[str, Figures]] = {
    "deliveries": _deliveries,
    "attempts": _attempts,
    "breakers of hooks": _breakers,
    "database sessions": _sessions,
    "queues": _queues,
    "scheduler": _scheduler,
    "mails": _mails,
    "audit": _audit,
    "archiver": _archiver,
    "backups": _backups,
    "event streams": _streams,
    "connected shops": _connected_shops,
    "trials": _trials,
    "certificates": _certificates,
}


# --- Certificates ------------------------------------------------------------------------------------

log = logging.getLogger(__name__)

CERTIFICATE_PATIENCE: Final = 3.0  # seconds
CERTIFICATES_EVERY: Final = 600.0  # seconds between two looks at a host
ANY_STORE: Final = "certificate"  # a name under the stores' wildcard

_ends: Final[dict[str, datetime | None]] = {}  # by host; None where the last look failed
_looked_at: Final[dict[str, float]] = {}


def certificate_seconds_left() -> dict[str, float]:
    """By host, without those that can't be reached. Below zero for a certificate that has ended."""
    for host, port in _addresses():
        if monotonic() - _looked_at.get(host, -CERTIFICATES_EVERY) >= CERTIFICATES_EVERY:
            _looked_at[host], _ends[host] = monotonic(), _look(host, port)
    now = datetime.now(UTC)
    return {host: (end - now).total_seconds() for host, end in _ends.items() if end}


def _addresses() -> list[tuple[str, int]]:
    urls = (settings.BASE_URL, settings.STORES_URL.replace("{slug}", ANY_STORE))
    parts = (urlsplit(url) for url in urls if url.startswith("https://"))
    return [(each.hostname or "", each.port or 443) for each in parts]


def _look(host: str, port: int) -> datetime | None:
    """Whether it can be trusted is for browsers to judge: an authority of one's own counts, too."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            socket.create_connection((host, port), CERTIFICATE_PATIENCE) as plain,
            context.wrap_socket(plain, server_hostname=host) as secure,
        ):
            shown = secure.getpeercert(binary_form=True)
    except OSError as error:
        log.warning("The certificate of %s can't be looked at: %s", host, error)
        return None
    return x509.load_der_x509_certificate(shown).not_valid_after_utc if shown else None
