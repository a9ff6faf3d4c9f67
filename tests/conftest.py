"""The cast: Dana develops apps; Sam is a developer who must see nothing of hers; Mira owns a shop."""

from collections.abc import Iterator
from datetime import timedelta
from functools import partialmethod
from typing import Any
from uuid import uuid4

import django.test.client
import pytest
import time_machine
from celery import Task
from django.core.cache import caches
from django.core.signals import setting_changed
from django.db import transaction
from django.utils import timezone

from accounts.models import Business, User
from accounts.services.sender import send_due
from activity.log import CallLog
from common.processes import redis_client
from common.processes.write_behind import WriteBehind
from common.templatetags import fixed
from common.web import limits
from common.web.requests import Request
from config.celery import app as celery_app
from extensions.hooks.skipped import SkippedCalls
from installations.models import Installation
from marketplace.models import App
from tests import factories
from tests.config.scraping import operator as operator
from tests.hooking import hooking as hooking
from tests.payloads import hold_to_schemas
from tests.signals import ear as ear
from tests.template_database import django_db_modify_db_settings as django_db_modify_db_settings
from tests.template_database import django_db_setup as django_db_setup

django.test.client.WSGIRequest = Request  # type: ignore[misc, attr-defined]  # as `config.wsgi` makes them
# Settings don't change while a server runs, so a part of a page that shows them is kept.
setting_changed.connect(lambda **_: fixed.forget(), weak=False)


@pytest.fixture(autouse=True)
def _fresh_cache(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test begins with an empty cache, nothing counted, and servers that have not failed, without emptying anybody's Redis.

    A busy machine's Redis may take longer than the product waits for it. To a test of a limit it must not seem to be away.
    """
    monkeypatch.setattr(redis_client, "TIMEOUT", 10)
    settings.CACHES = {"default": settings.CACHES["default"] | {"KEY_PREFIX": uuid4().hex}}
    redis_client.circuit.cache_clear()
    limits.counter.cache_clear()
    yield
    limits.counter.cache_clear()
    for cache in caches.all(initialized_only=True):  # the main thread's context keeps each of them
        pools = getattr(cache._cache, "_pools", {}) if isinstance(cache, redis_client.Cache) else {}  # noqa: SLF001
        for pool in pools.values():
            pool.disconnect()


@pytest.fixture(autouse=True)
def _rows_behind_requests_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are written where a test calls `flush()`, and by no thread into another test's database."""
    monkeypatch.setattr("activity.log._log", CallLog())
    monkeypatch.setattr("extensions.hooks.skipped._skipped", SkippedCalls())
    monkeypatch.setattr(WriteBehind, "start", lambda self: None)


@pytest.fixture(autouse=True)
def _agreeing_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests travel in time and the database does not, so its clock is not read."""
    monkeypatch.setattr("webhooks.engine.clocks.database_ahead", timedelta)


@pytest.fixture(autouse=True)
def _payloads_fit_their_schemas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a test publishes has to fit the schema that is published for it."""
    hold_to_schemas(monkeypatch)


@pytest.fixture
def tasks_run_at_once() -> Iterator[None]:
    """An enqueued task runs at once, in the test's own process."""
    celery_app.conf.task_always_eager = celery_app.conf.task_eager_propagates = True
    yield
    celery_app.conf.task_always_eager = celery_app.conf.task_eager_propagates = False


@pytest.fixture
def mails_leave_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sender runs after each commit, and no other task does."""
    monkeypatch.setattr(
        "accounts.services.outbox.enqueue_after_commit",
        lambda *_, **__: transaction.on_commit(send_due, robust=True),
    )


@pytest.fixture
def dead_broker(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Tasks are published to a port where nothing listens."""
    celery_app.conf.task_always_eager = False
    gone, options = "redis://127.0.0.1:1/0", {"max_retries": 0}
    with celery_app.connection_for_write(gone, transport_options=options) as broker:
        monkeypatch.setattr(Task, "apply_async", partialmethod(Task.apply_async, connection=broker))
        yield


@pytest.fixture
def stopped_clock() -> Iterator[None]:
    """Keep what a test sends within one minute of the rate limits, however slow the machine is."""
    with time_machine.travel(timezone.now(), tick=False):
        yield


@pytest.fixture
def dana(db: None) -> User:
    return factories.developer("dana@example.com", name="Dana")


@pytest.fixture
def sam(db: None) -> User:
    return factories.developer("sam@example.com", name="Sam")


@pytest.fixture
def mira(db: None) -> User:
    return factories.merchant("mira@example.com", name="Mira")


@pytest.fixture
def sandbox(dana: User) -> Business:
    """Dana's sandbox, empty."""
    return Business.objects.sandbox_of(dana)


@pytest.fixture
def shop(mira: User) -> Business:
    return Business.objects.get(owner=mira)


@pytest.fixture
def app(dana: User) -> App:
    """Dana's app, a draft that asks for every scope."""
    return factories.app(dana)


@pytest.fixture
def installation(app: App, sandbox: Business) -> Installation:
    """Dana's app, installed for test on her sandbox; the token is `installation.raw_token`."""
    return factories.installation(app, sandbox)
