"""One row that can't be worked on stops no other, in every task of the schedule that goes through many people's things
(contract, section 15, "Mails to strangers").

Each task gets three rows. With the middle one something unforeseen happens.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, default_storage
from django.db import OperationalError
from django.utils import timezone
from django.utils.module_loading import import_string
from prometheus_client import REGISTRY
from psycopg.errors import DeadlockDetected

from accounts.enums import StoreNotice
from accounts.models import Business, ConnectedStore, Mail, User
from accounts.services import confirmation, shops
from accounts.services.businesses import open_throwaway_store
from appapi.models import Export
from common.db.rows import for_each
from common.errors import Conflict
from common.http.exchanges import Exchange
from common.http.looks import Seen
from common.ids import new_id
from conformance.models import WeeklyCheck
from extensions.enums import ExtensionType
from extensions.models import WatchedScript
from extensions.script_content import Content
from installations.models import Installation, Trial
from marketplace.enums import ReleaseMode, ReleaseState
from marketplace.models import App, AppVersion, Release, Submission
from stores.connected.stores import open_store
from stores.enums import PaymentStatus
from stores.models import (
    CustomerErasure,
    MerchantNews,
    Payment,
    ShopPayment,
    SitePage,
    StoreTotals,
    WaitingMail,
)
from tests import factories
from tests.extensions.manifests import script
from tests.webhooks import helpers
from webhooks import health
from webhooks.enums import DeliveryStatus, ErasureState, Stage
from webhooks.models import Delivery, Erasure, Webhook
from webhooks.services import customer_erasure, erasure

pytestmark = [pytest.mark.django_db, pytest.mark.long]

NOW = datetime.now(UTC)
LONG_AGO = NOW - timedelta(days=40)
ADDRESS = "kim.secret@example.com"

# Those that work by statements over whole tables, and know no single row; and the dispatcher, whose engine records what became of
# each delivery (tests/webhooks/engine).
WITHOUT_ROWS = {
    "extensions.tasks.notify_merchants",
    "accounts.tasks.remove_ended_sign_ins",
    "accounts.tasks.remove_old_security_events",
    "activity.tasks.remove_old_calls",
    "appapi.tasks.delete_expired_idempotency_keys",
    "common.tasks.make_partitions",
    "extensions.tasks.remove_old_hook_calls",
    "installations.tasks.remove_old_grants",
    "stores.tasks.complete_keys_of_customers",
    "stores.tasks.remove_old_carts",
    "stores.tasks.remove_old_mentions",
    "webhooks.tasks.audit_tables",
    "webhooks.tasks.dispatch",
    "webhooks.tasks.remove_old_deliveries",
}

Rows = Iterable[Any]


@dataclass(frozen=True)
class Case:
    """`work` is what the task does with one row, `is_done` whether that happened, `counted` the label of the metric.

    `instead` replaces the work where it would need a server or a release of hours; then it is done when it was called.
    """

    task: str
    rows: Callable[[Any], Rows]
    work: str
    counted: str
    is_done: Callable[[Any], bool] | None = None
    instead: Callable[..., Any] | None = None
    also: dict[str, Any] = field(default_factory=dict)  # replaced, by dotted path


def stores(_: Any = None) -> list[Business]:
    """Of one merchant each, and older than a week."""
    owners = [factories.merchant(f"m{number}@example.com") for number in range(3)]
    Business.objects.filter(owner__in=owners).update(created_at=LONG_AGO)
    return list(Business.objects.filter(owner__in=owners).order_by("pk"))


def apps() -> list[App]:
    developer = factories.developer("dana@example.com")
    return [
        factories.app(
            developer,
            redirect_url=f"https://app{number}.example.com/callback",
            webhook_url=f"https://app{number}.example.com/hook",
        )
        for number in range(3)
    ]


def approved() -> list[App]:
    found = apps()
    for each in found:
        factories.approve(each)
    return found


def installations() -> list[Installation]:
    return [
        factories.installation(app, store, is_test=False)
        for app, store in zip(approved(), stores(), strict=True)
    ]


def webhooks(**fields: Any) -> list[Webhook]:
    return [
        helpers.webhook(each, "https://app.example.com/hook", ["order.created"], **fields)
        for each in installations()
    ]


def fresh(row: Any) -> Any:
    return type(row)._base_manager.get(pk=row.pk)


def is_gone(row: Any) -> bool:
    return not type(row)._base_manager.filter(pk=row.pk).exists()


# Three rows for each task


def keyless_accounts(_: Any) -> Rows:
    """As processes of a version without keys make them."""
    people = [factories.merchant(f"m{number}@example.com") for number in range(3)]
    User.objects.filter(pk__in=[each.pk for each in people]).update(email_key=None)
    return people


def versions(_: Any) -> Rows:
    approved()
    AppVersion.objects.update(followed_at=None)
    return AppVersion.objects.order_by("approved_at")


def complete_releases(_: Any) -> Rows:
    return [
        Release.objects.create(
            version=version,
            mode=ReleaseMode.STEPS,
            state=ReleaseState.COMPLETE,
            started_at=NOW - timedelta(days=1),
            step_at=NOW,
            watched_from=NOW,
            ended_at=NOW,
        )
        for version in versions(None)
    ]


def news(_: Any) -> Rows:
    found = stores()
    for store in found:
        MerchantNews.objects.create(
            business=store, kind=StoreNotice.NEW_ORDERS, about_id=factories.order(store).pk
        )
    return found


def ended_erasures(_: Any) -> Rows:
    found = []
    for each in installations():
        each.uninstalled_at = LONG_AGO
        each.save()
        found.append(erasure.schedule(installation=each, now=LONG_AGO))
    Delivery.objects.update(status=DeliveryStatus.EXHAUSTED)
    return found


def customers_erasures(_: Any) -> Rows:
    found = []
    for each in installations():
        erased = CustomerErasure.objects.create(business=each.business, at=NOW, words="[]")
        data = {"customer": {"email": ADDRESS, "phone": None}}
        event, _ = customer_erasure.write_event(installation=each, data=data, now=LONG_AGO)
        found.append(Erasure.objects.create(installation=each, customer=erased, event=event, due_at=LONG_AGO))
    Delivery.objects.update(status=DeliveryStatus.EXHAUSTED)
    return found


def overdue_payments(_: Any) -> Rows:
    orders = [factories.order(store) for store in stores()]
    for order in orders:
        factories.payment(order, expires_at=LONG_AGO)
    return orders


def payments_of_shops(status: PaymentStatus, **fields: Any) -> Rows:
    system = shops.connect(name="Northwind", commands_url="https://shop.example/commands").system
    values = {"name": "Northwind", "currency": "USD"}
    return [
        ShopPayment.objects.create(
            business=open_store(system=system, external_id=name, values=values).business,
            order_id=new_id(),
            order_external_id="o-1",
            provider="bell",
            method="bell:card",
            amount=900,
            currency="USD",
            status=status,
            **fields,
        )
        for name in ("first", "second", "third")
    ]


def expired_stores(_: Any) -> Rows:
    return [open_throwaway_store(purpose="Check", expires_at=LONG_AGO, with_samples=False) for _ in range(3)]


def due_submissions(_: Any) -> Rows:
    for app in apps():
        factories.submit(app, checks_due_at=LONG_AGO)
    return Submission.objects.order_by("checks_due_at", "pk")


def mails(_: Any) -> Rows:
    for number in range(3):
        confirmation.mail_confirmation(email=f"m{number}@example.com")
    return Mail.objects.order_by("pk")


def exports(_: Any) -> Rows:
    return [Export.objects.create(installation=each, resource="PRODUCTS") for each in installations()]


def expired_exports(_: Any) -> Rows:
    found = [factories.export(each) for each in installations()]
    Export.objects.update(expires_at=LONG_AGO)
    return found


def due_checks(_: Any) -> Rows:
    return [WeeklyCheck.objects.create(app=app, due_at=LONG_AGO, version_number=1) for app in approved()]


def scripts(_: Any) -> Rows:
    return [
        WatchedScript.objects.create(app=app, url=f"https://cdn.example.com/{app.slug}.js", due_at=LONG_AGO)
        for app in approved()
    ]


def pages_of_shops(_: Any) -> Rows:
    system = shops.connect(name="Northwind").system
    values = {"name": "Northwind", "currency": "USD"}
    return [
        SitePage.objects.create(
            business=open_store(system=system, external_id=name, values=values).business,
            slug="about",
            url=f"https://{name}.example.com/about",
        )
        for name in ("first", "second", "third")
    ]


def repinned_scripts(_: Any) -> Rows:
    found = scripts(None)
    for row in found:
        factories.definition(row.app, ExtensionType.EMBED, "counter", script(scriptUrl=row.url))
        row.pins = ["sha384-old"]
        row.save()
    return found


def erased_customers(_: Any) -> Rows:
    return [CustomerErasure.objects.create(business=store, at=LONG_AGO, words="[]") for store in stores()]


def failed_webhooks(_: Any) -> Rows:
    return webhooks(failing_since=LONG_AGO)


def disabled_webhooks(_: Any) -> Rows:
    found = webhooks(is_active=False, disabled_at=NOW, disabled_reason=health.FAILED, failing_since=LONG_AGO)
    return [each.installation.app for each in found]


def waiting_mails(_: Any) -> Rows:
    return [
        WaitingMail.objects.create(business=store, order=factories.order(store, page_key_digest=store.slug))
        for store in stores()
    ]


def closed_stores(_: Any) -> Rows:
    found = stores()
    for store in found:
        store.owner.deleted_at = NOW
        store.owner.save()
    return [StoreTotals.objects.get(business=store) for store in found]


def ended_stores(_: Any) -> Rows:
    system = shops.connect(name="Northwind").system
    found = [
        open_store(system=system, external_id=name, values={"name": name, "currency": "USD"})
        for name in ("first", "second", "third")
    ]
    ConnectedStore.objects.update(ending_since=NOW)
    return found


def asked_trials(_: Any) -> Rows:
    """Asked for a minute ago and more, so that they are made or ended."""
    app = factories.app(factories.developer("dana@example.com"))
    return [
        Trial.objects.create(app=app, store=store, asked_by=store.owner, asked_at=LONG_AGO)
        for store in stores()
    ]


def wrong_totals(_: Any) -> Rows:
    found = stores()
    StoreTotals.objects.update(orders=7)
    return found


def stray_files(_: Any) -> Rows:
    names = [f"stores/products/stray{number}.webp" for number in range(3)]
    for name in names:
        default_storage.save(name, ContentFile(b"x"))
    return names


def days(_: Any) -> Rows:
    return [date(2026, 11, number) for number in (1, 2, 3)]


CASES = [
    Case(
        "installations.tasks.follow_approvals",
        versions,
        "installations.services.approval.follow",
        "follow_approvals",
        lambda row: fresh(row).followed_at is not None,
    ),
    Case(
        "extensions.tasks.watch_releases",
        complete_releases,
        "extensions.releases.watch._keep_figures",
        "watch_releases",
        lambda row: fresh(row).final_health is not None,
    ),
    Case(
        "stores.tasks.mail_merchants",
        news,
        "stores.services.merchant_mails._post_next",
        "mail_merchants",
        lambda store: not MerchantNews.objects.filter(business=store).exists(),
    ),
    Case(
        "webhooks.tasks.follow_erasures",
        ended_erasures,
        "webhooks.services.erasure._settle",
        "follow_erasures",
        lambda row: fresh(row).state == ErasureState.OVERDUE,
    ),
    Case(
        "webhooks.tasks.follow_erasures",
        customers_erasures,
        "webhooks.services.customer_erasure._settle",
        "follow_erasures",
        lambda row: fresh(row).state == ErasureState.OVERDUE,
    ),
    Case(
        "stores.tasks.expire_payments",
        overdue_payments,
        "stores.services.payments.expire_payment",
        "expire_payments",
        lambda order: Payment.objects.get(order=order).status == "EXPIRED",
    ),
    Case(
        "stores.tasks.expire_payments",
        lambda _: payments_of_shops(PaymentStatus.PENDING, expires_at=LONG_AGO),
        "stores.connected.payments._expire",
        "expire_shop_payments",
        lambda row: fresh(row).status == "EXPIRED",
    ),
    Case(
        "extensions.tasks.tell_shops",
        lambda _: payments_of_shops(PaymentStatus.COMPLETED, command_id=new_id(), tell_at=LONG_AGO),
        "extensions.shops.telling._command",
        "tell_shops",
        lambda row: fresh(row).tell_at is None,
        instead=lambda payment: None,
    ),
    Case(
        "conformance.tasks.remove_ended_checks",
        expired_stores,
        "conformance.services.runs._remove",
        "remove_ended_checks",
        is_gone,
    ),
    Case(
        "developers.review.tasks.check_submissions",
        due_submissions,
        "developers.review.check_runs.run_checks",
        "check_submissions",
        instead=lambda **_: None,
    ),
    Case(
        "accounts.tasks.send_mails",
        mails,
        "accounts.services.sender._letter_of",
        "send_mails",
        is_gone,
    ),
    Case(
        "appapi.tasks.make_exports",
        exports,
        "appapi.services.exports._write",
        "make_exports",
        lambda row: fresh(row).status == "READY",
        instead=lambda export, file: (0, ""),
    ),
    Case(
        "appapi.tasks.delete_expired_exports",
        expired_exports,
        "appapi.services.exports._delete",
        "delete_expired_exports",
        is_gone,
    ),
    Case(
        "conformance.tasks.check_listed_apps",
        due_checks,
        "conformance.services.weekly.hosts_of",
        "check_listed_apps",
        instead=lambda tried: set(),
        also={
            "conformance.services.weekly._run": lambda app: (_ for _ in ()).throw(Conflict("suspended")),
            "conformance.services.weekly._approved": lambda app: app,
        },
    ),
    Case(
        "conformance.tasks.check_listed_apps",
        lambda _: approved(),
        "conformance.services.weekly._of_version",
        "check_listed_apps",
        lambda app: WeeklyCheck.objects.filter(app=app).exists(),
        also={"conformance.services.weekly.claim": lambda now: WeeklyCheck.objects.none().first()},
    ),
    Case(
        "extensions.tasks.look_at_scripts",
        scripts,
        "extensions.services.scripts.record",
        "look_at_scripts",
        lambda row: fresh(row).seen_at is not None,
        also={
            "extensions.services.scripts.fetch": lambda sources, until: [
                (pk, Content(body=b"x")) for pk in sources
            ]
        },
    ),
    Case(
        "extensions.tasks.look_at_scripts",
        lambda _: [row.app for row in scripts(_)],
        "extensions.services.scripts.page_with",
        "look_at_scripts",
        lambda app: WatchedScript.objects.get(app=app).seen_at is not None,
        also={
            "extensions.services.scripts.fetch": lambda sources, until: [
                (pk, Content(body=b"x")) for pk in sources
            ]
        },
    ),
    Case(
        "stores.tasks.look_at_pages",
        pages_of_shops,
        "stores.connected.framing.is_framable",
        "look_at_pages",
        lambda page: fresh(page).is_framable,
        also={
            "stores.connected.framing.look_at": lambda sources, until: [
                (pk, Seen(each.url, Exchange(200, {}, b"", truncated=False, duration_ms=1, error_class=None)))
                for pk, each in sources.items()
            ]
        },
    ),
    Case(
        "extensions.tasks.find_scripts",
        repinned_scripts,
        "extensions.services.scripts._update",
        "find_scripts",
        lambda row: fresh(row).is_in_force and fresh(row).pins == [],
    ),
    Case(
        "stores.tasks.sweep_erased_customers",
        erased_customers,
        "stores.services.customer_erasure.erase_copies",
        "sweep_erasures",
        lambda row: fresh(row).swept_at is not None,
        instead=lambda **_: True,
    ),
    Case(
        "webhooks.tasks.judge_webhooks",
        failed_webhooks,
        "webhooks.services.disabling.disable",
        "judge_webhooks",
        lambda row: not fresh(row).is_active,
        also={"webhooks.services.disabling._failed": lambda now: list(Webhook.objects.order_by("pk"))},
    ),
    Case(
        "webhooks.tasks.judge_webhooks",
        disabled_webhooks,
        "webhooks.services.notifications._notify",
        "notify_developers",
        lambda app: Webhook.objects.get(installation__app=app).notified_stage == Stage.DISABLED,
    ),
    Case(
        "stores.tasks.send_waiting_mails",
        waiting_mails,
        "stores.services.order_mails._take_over",
        "send_waiting_mails",
        is_gone,
    ),
    Case(
        "webhooks.tasks.count_deliveries",
        days,
        "webhooks.services.counting.count_day",
        "count_deliveries",
        instead=lambda day: None,
        also={
            "webhooks.services.counting._days": lambda first, last: set(days(None)),
            "webhooks.services.counting._changed_since": lambda since, first: set(),
        },
    ),
    Case(
        "stores.tasks.remove_records_of_deleted_stores",
        closed_stores,
        "stores.services.customer_erasure.empty_store",
        "remove_records_of_deleted_stores",
        is_gone,
    ),
    Case("teststores.tasks.make_copies", asked_trials, "teststores.trials._make", "make_copies"),
    Case("teststores.tasks.end_trials", asked_trials, "teststores.trials._ended", "end_trials"),
    Case(
        "stores.tasks.remove_ended_stores",
        ended_stores,
        "stores.services.customer_erasure._free",
        "remove_ended_stores",
        is_gone,
    ),
    Case(
        "stores.tasks.remove_stray_pictures",
        stray_files,
        "django.core.files.storage.FileSystemStorage.delete",
        "remove_stray_pictures",
        lambda name: not default_storage.exists(name),
    ),
    Case(
        "accounts.tasks.complete_email_keys",
        keyless_accounts,
        "accounts.email_keys.give",
        "complete_email_keys",
        lambda person: fresh(person).email_key == person.email,
    ),
    Case(
        "stores.tasks.recount_totals",
        wrong_totals,
        "stores.services.totals.recount",
        "recount_totals",
        lambda store: StoreTotals.objects.get(business=store).orders == 0,
    ),
]


def failed_rows(task: str) -> float:
    return REGISTRY.get_sample_value("extension_platform_rows_failed_total", {"task": task}) or 0


def test_every_task_of_the_schedule_is_tried() -> None:
    scheduled = {entry["task"] for entry in django_settings.CELERY_BEAT_SCHEDULE.values()}
    tried = {case.task for case in CASES}
    assert tried | WITHOUT_ROWS == scheduled
    assert not tried & WITHOUT_ROWS


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.task}:{case.work.rpartition('.')[2]}")
def test_bad_row_stops_no_other(
    case: Case,
    settings: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    django_capture_on_commit_callbacks: Any,
) -> None:
    settings.WEEKLY_CHECKS = settings.WATCH_SCRIPTS = True
    settings.MEDIA_ROOT = tmp_path
    before_any = timezone.now()
    first, bad, last = list(case.rows(None))
    if case.task == "stores.tasks.remove_stray_pictures":
        monkeypatch.setattr("stores.services.catalogue.pictures.walk", lambda *_: strays(first, bad, last))
    called = breaking(case, bad, monkeypatch)
    for path, replacement in case.also.items():
        monkeypatch.setattr(path, replacement)
    counted = failed_rows(case.counted)
    with caplog.at_level(logging.INFO), django_capture_on_commit_callbacks(execute=True):
        import_string(case.task).run()
    is_done = case.is_done or (lambda row: key(row) in called)
    assert [is_done(row) for row in (first, last)] == [True, True]
    assert not is_done(bad) or case.task == "conformance.tasks.check_listed_apps"
    assert failed_rows(case.counted) > counted, "an operator sees it"
    assert f"{case.counted} failed for" in caplog.text
    assert "UnicodeError" in caplog.text
    assert ADDRESS not in caplog.text, "and reads nothing of the person"
    assert timezone.now() - before_any < timedelta(seconds=40), (
        "what fails is put off, not tried until the time is over"
    )


def key(row: Any) -> Any:
    return getattr(row, "pk", row)


def breaking(case: Case, bad: Any, monkeypatch: pytest.MonkeyPatch) -> set[Any]:
    """Let the work raise for the bad row. Returns the keys of the rows for which it didn't."""
    path, _, name = case.work.rpartition(".")
    owner = FileSystemStorage if path.endswith("FileSystemStorage") else import_module(path)
    original, called = case.instead or getattr(owner, name), set()

    def work(*args: Any, **kwargs: Any) -> Any:
        given = [key(each) for each in (*args, *kwargs.values()) if isinstance(key(each), type(key(bad)))]
        given += [each.app_id for each in args if isinstance(bad, WeeklyCheck) and hasattr(each, "app_id")]
        if key(bad) in given:
            raise UnicodeError(f"'idna' codec can't encode {ADDRESS}")
        called.update(given)
        return original(*args, **kwargs)

    monkeypatch.setattr(owner, name, work)
    return called


@dataclass(frozen=True)
class Stray:
    name: str
    changed_at: datetime = LONG_AGO


def strays(*names: str) -> Any:
    return iter([Stray(name) for name in names])


def test_database_that_is_away_ends_the_run() -> None:
    """Trying the others would take as long for each."""
    tried = []

    def work(row: int) -> None:
        tried.append(row)
        raise OperationalError("the server closed the connection unexpectedly")

    with pytest.raises(OperationalError):
        for_each([1, 2, 3], work, task="test")
    assert tried == [1]


def test_deadlock_is_of_one_row() -> None:
    from django.db import OperationalError

    tried = []

    def work(row: int) -> int:
        tried.append(row)
        if row == 2:
            raise OperationalError("deadlock detected") from DeadlockDetected()
        return 1

    assert for_each([1, 2, 3], work, task="test") == 2
    assert tried == [1, 2, 3]
