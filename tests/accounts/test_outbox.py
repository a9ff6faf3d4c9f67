"""Mails are sent once, whatever the mail server does meanwhile: a real SMTP server, and only the time is mocked."""

import ssl
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
import trustme
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client import REGISTRY

from accounts.enums import StoreNotice
from accounts.models import Business, Mail, User
from accounts.services import confirmation, profile, sender
from accounts.services.deletion import delete_account
from accounts.services.outbox import mail_security_change
from accounts.services.staff import STAFF
from accounts.tasks import send_mails
from conformance.enums import Change, Sender
from conformance.models import Run, WeeklyCheck
from conformance.services.weekly import mail_change
from extensions.models import WatchedScript
from extensions.releases.watch import mail_halt
from extensions.services.notices import notify_merchants
from extensions.services.scripts import News, mail_news
from installations.models import Installation
from marketplace.enums import ReleaseMode, ReleaseState
from marketplace.models import App, Release
from marketplace.services import review_messages, reviews
from marketplace.services.members import MEMBERS
from stores.services import merchant_mails, order_mails
from tests import factories
from tests.mail_server import MailServer, mail_server
from tests.merchants.pages import installed, listed_app
from tests.pages import signed_in, words_of
from tests.ports import free_port
from tests.sessions import another_session
from tests.webhooks import helpers
from webhooks.enums import ErasureState
from webhooks.models import Erasure
from webhooks.services import erasure_mails
from webhooks.services.notifications import notify_developers

pytestmark = pytest.mark.django_db

BEGAN = datetime(2026, 11, 20, 12, tzinfo=UTC)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


@pytest.fixture
def server(settings: Any) -> Iterator[MailServer]:
    settings.EMAIL_TIMEOUT = 0.05
    with mail_server(settings) as running:
        yield running


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(BEGAN, tick=False) as traveller:
        yield traveller


@pytest.fixture
def stars(dana: User, shop: Business) -> Installation:
    """Dana's app, listed and installed in Mira's shop."""
    return installed(listed_app(dana, ["read_products"], name="Stars"), shop)


# A mail of each kind, and how its subject begins


def _new_email(kind: str, app: App, shop: Business) -> None:
    profile.ask_for_new_email(user=shop.owner, email="new@example.com")


def _decision(kind: str, app: App, shop: Business) -> None:
    other = factories.app(app.developer, name="Bell", slug="bell")
    submission = factories.submit(other)
    rita = factories.reviewer("rita@example.com")
    review_messages.send_message(submission=submission, author=rita, text="Which key?")
    reviews.reject(submission=submission, reviewer=rita, notes="Sign it.")


def _orders(kind: str, app: App, shop: Business) -> None:
    order = factories.order(
        shop, number="1001", customer_email="kim@example.com", page_key_digest="d", status="READY"
    )
    order_mails.mail_placed(order=order, page_key="the-key")
    order_mails.mail_status(order=order)
    merchant_mails.note(business=shop, kind=StoreNotice.NEW_ORDERS, now=timezone.now(), about_id=order.pk)
    merchant_mails.send_due()


def _webhooks(kind: str, app: App, shop: Business) -> None:
    """Failing for a day: the developer and the merchant are mailed."""
    installation = Installation.objects.get(app=app)
    day_ago = timezone.now() - timedelta(hours=25)
    url = "https://api.example.com/in"
    helpers.webhook(installation, url, ["product.created"], failing_since=day_ago)
    notify_developers()
    notify_merchants()


def _questions(kind: str, app: App, shop: Business) -> None:
    app.scopes = ["read_products", "read_orders"]
    app.save()
    factories.approve(app)
    Installation.objects.update(needs_reconsent=True)
    notify_merchants()


def _halt(kind: str, app: App, shop: Business) -> None:
    state = {"state": ReleaseState.HALTED, "percent": 1, "reason": "All calls failed."}
    moments = {"started_at": timezone.now(), "step_at": timezone.now(), "watched_from": timezone.now()}
    mail_halt(Release(version=app.approved_version, mode=ReleaseMode.STEPS, **state, **moments))


def _weekly(kind: str, app: App, shop: Business) -> None:
    run = Run(app=app, sender=Sender.WEEKLY, version=app.approved_version, deadline_at=timezone.now())
    mail_change(WeeklyCheck(app=app, failed_rules=["WH005"]), run, Change.BROKEN)


def _erasures(kind: str, app: App, shop: Business) -> None:
    installation = Installation.objects.get(app=app)
    for state in (ErasureState.CONFIRMED, ErasureState.OVERDUE):
        row = Erasure.objects.create(installation=installation, state=state, due_at=timezone.now())
        erasure_mails.mail_merchant(row.pk)
        row.delete()
    erasure_mails.alarm([row])


def _deletion(kind: str, app: App, shop: Business) -> None:
    delete_account(user=factories.developer("gone@example.com"))


CAUSES: dict[str, Callable[[str, App, Business], Any]] = {
    "Choose a new password": lambda kind, app, shop: profile.mail_reset(email=shop.owner.email),
    "Confirm your e-mail address": lambda kind, app, shop: confirmation.mail_confirmation(
        email=shop.owner.email
    ),
    "You already have an account": lambda kind, app, shop: confirmation.mail_account_exists(
        email=shop.owner.email
    ),
    "Confirm your new e-mail address": _new_email,
    "The security of your account": lambda kind, app, shop: mail_security_change(
        user=shop.owner, change="A passkey was added."
    ),
    "Your account at Extension Platform is deleted": _deletion,
    "Invitation to Mira's shop": lambda kind, app, shop: STAFF.invite(
        shop, by=shop.owner, email="pia@example.com", role="MANAGER"
    ),
    "Invitation to Stars": lambda kind, app, shop: MEMBERS.invite(
        app, by=app.developer, email="sam@example.com", role="DEVELOPER"
    ),
    "Bell 0.1.0 needs changes|Bell 0.1.0: message about the review": _decision,
    "Order 1001 at|Order 1001 is ready|New order 1001": _orders,
    "Stars: webhooks are failing|Stars is having trouble": _webhooks,
    "Stars asks for more permissions": _questions,
    "Stars 0.1.0: the release has halted": _halt,
    "Stars: a script has changed": lambda kind, app, shop: mail_news(
        WatchedScript(app=app, url="https://app.example.com/a.js"), News.CHANGED
    ),
    "Stars failed its weekly check": _weekly,
    "Stars erased the data|Stars hasn't confirmed|1 data erasures are not confirmed": _erasures,
}


def fails(server: MailServer, settings: Any, how: str) -> int:
    """Returns the port at which the server will be back."""
    port: int = settings.EMAIL_PORT
    if how == "refuses":
        server.refuses = "550 not today"
    elif how == "is closing":
        server.refuses = "421 closing"
    elif how == "hangs":
        server.hangs = True
    else:
        settings.EMAIL_PORT = free_port()
    return port


@pytest.mark.long
@pytest.mark.spec("Contract 15 Doors", "What could not be sent is tried for 24 hours, whatever kind it is")
@pytest.mark.parametrize("how", ["refuses", "is closing", "hangs", "is away"])
def test_each_kind_of_mail_arrives_once_after_an_hour_without_a_mail_server(
    how: str,
    server: MailServer,
    settings: Any,
    clock: time_machine.Traveller,
    stars: Installation,
    shop: Business,
) -> None:
    settings.ADMINS = [("Ops", "ops@example.com")]
    settings.CONFIRM_ADDRESSES = False
    port = fails(server, settings, how)
    for kind, cause in CAUSES.items():
        cause(kind, App.objects.get(pk=stars.app_id), shop)
    expected = {begin for kind in CAUSES for begin in kind.split("|")}
    assert Mail.objects.count() == len(expected)
    for _ in range(60):
        assert sender.send_due() == 0
        clock.shift(MINUTE)
    server.refuses, server.hangs, settings.EMAIL_PORT = "", False, port
    for _ in range(31):
        sender.send_due()
        clock.shift(MINUTE)
    found = Counter(
        next(
            (begin for begin in expected if each["Subject"].removeprefix("[Django] ").startswith(begin)),
            each["Subject"],
        )
        for _, each in server.taken
    )
    assert found == dict.fromkeys(expected, 1)
    assert not Mail.objects.exists()


# Tries


def tls_of(monkeypatch: pytest.MonkeyPatch, folder: Path) -> ssl.SSLContext:
    """By an authority that the platform trusts."""
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(folder / "authority.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(folder / "authority.pem"))
    return context


def given_up() -> float:
    return REGISTRY.get_sample_value("extension_platform_mails_total", {"outcome": "given_up"}) or 0.0


def test_mail_is_given_up_after_a_day_kept_for_two_weeks_and_counted(
    server: MailServer, clock: time_machine.Traveller, mira: User
) -> None:
    admin = signed_in(factories.reviewer("ops@example.com", is_superuser=True, is_staff=True))
    before = given_up()
    server.refused[mira.email] = f"550 {mira.email} is unknown"
    mail_security_change(user=mira, change="A passkey was added.")
    tries = 0
    while Mail.objects.filter(given_up_at=None).exists():
        sender.send_due()
        clock.shift(5 * MINUTE)
        tries = max(tries, Mail.objects.get().tries)
    mail = Mail.objects.get()
    admin.force_login(User.objects.get(email="ops@example.com"))
    profile.mail_reset(email=mira.email)
    page = words_of(admin.get("/admin/accounts/mail/"))
    assert "account 0 – – SMTPRecipientsRefused 1" in page
    assert "password-reset 1" in page
    assert timedelta(hours=24) <= timezone.now() - BEGAN < timedelta(hours=25)
    assert 40 < tries < 60
    assert (mail.error, mail.to) == ("SMTPRecipientsRefused", mira.email)
    assert given_up() == before + 1
    server.refused.clear()
    clock.shift(timedelta(days=13))
    assert sender.send_due() == 1
    assert server.taken[0][1]["Subject"].startswith("Choose a new password")
    clock.shift(timedelta(days=2))
    sender.send_due()
    assert not Mail.objects.exists()


def test_mail_is_sent_again_as_the_same_mail_if_the_sender_dies_before_it_notes_it(
    server: MailServer, mira: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail_security_change(user=mira, change="A passkey was added.")
    with monkeypatch.context() as dying:
        dying.setattr(sender, "_row", lambda mail: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            sender.send_due()
    assert (sender.send_due(), sender.send_due()) == (1, 0)
    first, second = server.to(mira.email)
    assert first["Message-ID"] == second["Message-ID"]


@pytest.mark.long
@pytest.mark.parametrize("has_tls", [False, True])
def test_server_that_looks_through_mails_for_long_gets_each_once(
    has_tls: bool,
    server: MailServer,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    clock: time_machine.Traveller,
    mira: User,
) -> None:
    """Longer than it may take for any other answer, for which it keeps its short time."""
    settings.EMAIL_TIMEOUT, server.looks = 0.2, 0.5
    if has_tls:
        settings.EMAIL_USE_SSL, server.tls = True, tls_of(monkeypatch, tmp_path)
    for address in ("a@example.com", "b@example.com"):
        mira.email = address
        mail_security_change(user=mira, change="A passkey was added.")
    assert sender.send_due() == 2
    clock.shift(HOUR)
    assert sender.send_due() == 0
    assert [address for address, _ in server.taken] == ["a@example.com", "b@example.com"]
    assert not Mail.objects.exists()


def test_server_that_ends_a_connection_after_some_mails_gets_the_others_by_the_next(
    server: MailServer, mira: User, clock: time_machine.Traveller
) -> None:
    server.refused["odd@example.com"] = "421 closing"
    for address in ("a@example.com", "odd@example.com", "b@example.com", "c@example.com"):
        mira.email = address
        mail_security_change(user=mira, change="A passkey was added.")
    assert sender.send_due() == 3
    assert Mail.objects.get().to == "odd@example.com"


def test_mails_that_people_wait_for_go_before_those_in_bulk(
    server: MailServer, stars: Installation, mira: User
) -> None:
    Installation.objects.update(needs_reconsent=True, granted_scopes=[])
    notify_merchants()
    mail_security_change(user=mira, change="A passkey was added.")
    assert sender.send_due() == 2
    assert [mail["Subject"].split()[0] for _, mail in server.taken] == ["The", "Stars"]


@pytest.mark.postgres
def test_one_sender_works_at_a_time(server: MailServer, mira: User) -> None:
    mail_security_change(user=mira, change="A passkey was added.")
    with another_session() as other, other.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(hashtext('accounts.tasks.send_mails'))")
        send_mails()
        assert server.taken == []
        cursor.execute("SELECT pg_advisory_unlock_all()")
    send_mails()
    assert len(server.taken) == 1


# What waits


def test_link_that_was_asked_for_five_times_is_mailed_once(
    server: MailServer, settings: Any, clock: time_machine.Traveller, mira: User
) -> None:
    """And the tries in vain count nothing for its address, which gets three mails an hour."""
    fails(server, settings, "is closing")
    for _ in range(5):
        profile.mail_reset(email=mira.email)
        sender.send_due()
        clock.shift(5 * MINUTE)
    assert Mail.objects.get().tries > 3
    server.refuses = ""
    clock.shift(20 * MINUTE)
    assert sender.send_due() == 1
    profile.mail_reset(email=mira.email)
    assert sender.send_due() == 1


def test_asking_for_a_link_does_the_same_for_unknown_addresses(mira: User) -> None:
    """Time would tell whether there is an account."""

    def statements(email: str) -> list[str]:
        with CaptureQueriesContext(connection) as done:
            profile.mail_reset(email=email)
        return [each["sql"].split("(")[0] for each in done]

    assert statements(mira.email) == statements("nobody@example.com")
    assert Mail.objects.count() == 2
    assert sender.send_due() == 1
    assert not Mail.objects.exists()


def test_deleted_account_takes_its_mails_along(server: MailServer, dana: User) -> None:
    other = factories.merchant("tom@example.com")
    order = factories.order(Business.objects.get(owner=other), customer_email=dana.email, page_key_digest="d")
    order_mails.mail_placed(order=order, page_key="key")
    mail_security_change(user=dana, change="A passkey was added.")
    profile.mail_reset(email=dana.email.upper())
    delete_account(user=dana)
    assert sender.send_due() == 2
    assert sorted(mail["Subject"].split()[0] for _, mail in server.taken) == ["Order", "Your"]


def test_secrets_of_mails_are_not_readable_where_they_wait(mira: User, shop: Business) -> None:
    order = factories.order(shop, customer_email="kim@example.com", page_key_digest="d")
    order_mails.mail_placed(order=order, page_key="open-sesame")
    mail_security_change(user=mira, change="A passkey was added.")
    with connection.cursor() as cursor:
        cursor.execute("SELECT content FROM accounts_mail")
        stored = [text for (text,) in cursor.fetchall()]
    assert len(stored) == 2
    assert not [text for text in stored if "sesame" in text or "passkey" in text]


def test_mail_of_a_transaction_that_is_rolled_back_is_not_sent(server: MailServer, mira: User) -> None:
    from django.db import transaction

    with transaction.atomic():
        mail_security_change(user=mira, change="A passkey was added.")
        transaction.set_rollback(True)
    assert sender.send_due() == 0
