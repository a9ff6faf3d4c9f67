"""The security log: what people, staff and operators read in it, and that it can't be edited."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from io import StringIO
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import Permission
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.utils.timezone import now

from accounts.enums import SecurityEventKind
from accounts.models import SecurityEvent, SignIn, User
from accounts.services import security_log
from accounts.tasks import remove_old_security_events
from installations.services import lifecycle
from marketplace.models import App
from marketplace.services import reviews
from marketplace.services.apps import rotate_client_secret
from tests import factories
from tests.accounts.api import post, refresh, sign_in
from tests.accounts.second_factor import code
from tests.state import unchanged

pytestmark = pytest.mark.django_db


def kinds(user: User) -> list[str]:
    return [event.kind for event in SecurityEvent.objects.filter(user=user).order_by("id")]


def page(user: User) -> str:
    client = Client()
    client.force_login(user)
    return " ".join(unescape(client.get("/accounts/security-log/").content.decode()).split())


@pytest.mark.usefixtures("tasks_run_at_once")
def test_sign_ins_are_logged(
    client: Client, dana: User, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    browser = Client(headers={"User-Agent": "curl/8.5.0"}, REMOTE_ADDR="203.0.113.77")
    form = {"email": dana.email, "password": factories.PASSWORD}
    with django_capture_on_commit_callbacks(execute=True):
        browser.post("/accounts/login/", form | {"password": "wrong"})
        sign_in(client, "DANA@example.com", "wrong")
        sign_in(client, "nobody@example.com", "wrong")
    browser.post("/accounts/login/", form)
    browser.post("/accounts/logout/")
    pair = sign_in(client, dana.email).json()
    post(client, "/auth/logout", {"refreshToken": pair["refreshToken"]})
    assert kinds(dana) == [
        "SIGN_IN_FAILED",
        "SIGN_IN_FAILED",
        "SIGNED_IN",
        "SIGNED_OUT",
        "SIGNED_IN",
        "SIGNED_OUT",
    ]
    shown = page(dana)
    assert [words in shown for words in ("Failed sign-in", "curl", "203.0.113.0/24", "Developer API")] == [
        True
    ] * 4


def test_replayed_refresh_token_is_logged(client: Client, dana: User) -> None:
    pair = sign_in(client, dana.email).json()
    for _ in range(3):
        refresh(client, pair["refreshToken"])
    assert kinds(dana).count("REFRESH_TOKEN_REUSED") == 1
    assert SignIn.objects.get().ended_at


def test_passwords_and_tokens_are_logged(client: Client, dana: User) -> None:
    client.force_login(dana)
    client.post("/accounts/tokens/", {"name": "CI", "days": "30"})
    client.post(f"/accounts/tokens/{dana.developer_tokens.get().pk}/revoke/")
    new = "quite another one"
    form = {"oldpassword": factories.PASSWORD, "password1": new, "password2": new}
    client.post("/accounts/password/", form)
    dana.refresh_from_db()
    assert dana.check_password(new)
    assert kinds(dana)[1:4] == ["TOKEN_CREATED", "TOKEN_REVOKED", "PASSWORD_CHANGED"]


@pytest.mark.long
def test_second_factors_are_logged(
    client: Client, dana: User, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    form = {"email": dana.email, "password": factories.PASSWORD}
    client.post("/accounts/login/", form)
    setup = client.get("/accounts/security/app/").content.decode()
    (key,) = re.findall(r'id="key" value="(\w+)"', setup)
    with django_capture_on_commit_callbacks(execute=True):
        client.post("/accounts/security/app/", {"code": code(key)})
    visitor = Client()
    visitor.post("/accounts/login/", form)
    visitor.post("/accounts/login/second-step/", {"code": "000000"})
    post(visitor, "/auth/login", form)
    post(visitor, "/auth/login", form | {"otp": "000000"})
    with django_capture_on_commit_callbacks(execute=True):
        client.post("/accounts/security/app/remove/")
    found = kinds(dana)
    assert found == [
        "SIGNED_IN", "SECOND_FACTOR_ADDED", "SECOND_FACTOR_ADDED", "SIGN_IN_FAILED", "SIGN_IN_FAILED",
        "SECOND_FACTOR_REMOVED", "SECOND_FACTOR_REMOVED",
    ]  # fmt: skip  # the recovery codes come and go with the app


def test_secrets_and_decisions_about_apps_are_logged(app: App, dana: User) -> None:
    rita = factories.reviewer()
    rotate_client_secret(app=app, by=app.developer)
    submission = factories.submit(app)
    reviews.take(submission=submission, reviewer=rita)
    reviews.approve(submission=submission, reviewer=rita)
    app.refresh_from_db()
    reviews.suspend(app=app, reviewer=rita, reason="It spams.")
    reviews.reinstate(app=app, reviewer=rita)
    assert kinds(dana) == ["CLIENT_SECRET_ROTATED", "APP_APPROVED", "APP_SUSPENDED", "APP_REINSTATED"]
    assert "by Rita" in page(dana)
    assert "for Dana" in page(rita)


def test_installs_are_logged_for_the_merchant(app: App, mira: User) -> None:
    business = mira.businesses.get()
    factories.approve(app)
    issued = lifecycle.install(
        app=app,
        business=business,
        installed_by=mira,
        terms=lifecycle.Terms(is_test=False, granted_scopes=app.scopes),
    )
    lifecycle.uninstall(installation=issued.installation, by=mira)
    assert kinds(mira) == ["APP_INSTALLED", "APP_UNINSTALLED"]
    assert f"{app.name} on {business.name}" in page(mira)


def test_staff_changes_are_logged(client: Client, dana: User) -> None:
    ada = User.objects.create_superuser("ada@example.com", factories.PASSWORD)
    client.force_login(ada)
    place = f"/admin/accounts/user/{dana.pk}"
    client.post(
        f"{place}/change/", {"email": "d@example.com", "name": "Dana", "is_active": "on", "is_staff": "on"}
    )
    new = {"usable_password": "true", "password1": "a long walk home", "password2": "a long walk home"}
    client.post(f"{place}/password/", new)
    events = SecurityEvent.objects.filter(user=dana).order_by("id")
    assert [(event.kind, event.about, event.actor) for event in events] == [
        ("EMAIL_CHANGED", "From dana@example.com", ada),
        ("RIGHTS_CHANGED", "is_staff on", ada),
        ("PASSWORD_CHANGED", "", ada),
    ]


def test_each_day_has_one_head_above_its_times(dana: User) -> None:
    for day in ("17", "17", "19"):
        with time_machine.travel(f"2026-11-{day}T12:00:00Z", tick=False):
            security_log.record(user_id=dana.pk, kind=SecurityEventKind.TOKEN_CREATED)
    with time_machine.travel("2026-11-20T12:00:00Z", tick=False):
        shown = page(dana)
    lines = r'<tr class="day"><th [^>]*>([^<]*)</th>|data-label="Time"><time [^>]*>([^<]*)</time>'
    read = ["".join(found) for found in re.findall(lines, shown)]
    assert read[-5:] == ["Yesterday", "12:00:00", "17 Nov 2026", "12:00:00", "12:00:00"]


def test_people_see_their_own_log_only(dana: User, mira: User) -> None:
    security_log.record(user_id=dana.pk, kind=SecurityEventKind.TOKEN_CREATED, about="Secret plans")
    assert ("Secret plans" in page(dana), "Secret plans" in page(mira)) == (True, False)


def refused(statement: str, *parameters: Any) -> bool:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement, parameters)
    except DatabaseError as error:
        return "append-only" in str(error)
    return False


def test_database_refuses_changes(dana: User) -> None:
    security_log.record(user_id=dana.pk, kind=SecurityEventKind.SIGNED_IN)
    with unchanged(SecurityEvent):
        assert refused("UPDATE accounts_securityevent SET kind = 'SIGNED_OUT'")
        assert refused("DELETE FROM accounts_securityevent")
        if connection.vendor == "postgresql":
            assert refused("TRUNCATE accounts_securityevent")


def test_old_events_are_removed(dana: User) -> None:
    for days in (401, 399, 0):
        SecurityEvent.objects.create(user=dana, kind="SIGNED_IN", at=now() - timedelta(days=days))
    remove_old_security_events()
    assert SecurityEvent.objects.count() == 2


def test_staff_read_the_log_of_all_people(client: Client, dana: User) -> None:
    security_log.record(user_id=dana.pk, kind=SecurityEventKind.TOKEN_CREATED, about="CI")
    event = SecurityEvent.objects.get()
    rita = factories.reviewer()
    client.force_login(rita)
    assert client.get("/admin/accounts/securityevent/").status_code == 403
    rights = ["view_securityevent", "change_securityevent", "delete_securityevent", "add_securityevent"]
    rita.user_permissions.add(*Permission.objects.filter(codename__in=rights))
    listed = client.get("/admin/accounts/securityevent/").content.decode()
    assert [words in listed for words in ("Developer token created", "dana@example.com")] == [True, True]
    assert client.get(f"/admin/accounts/securityevent/{event.pk}/change/").status_code == 200
    with unchanged(SecurityEvent):
        assert client.post(f"/admin/accounts/securityevent/{event.pk}/change/", {}).status_code == 403
        assert (
            client.post(f"/admin/accounts/securityevent/{event.pk}/delete/", {"post": "yes"}).status_code
            == 403
        )


def test_log_is_exported_as_json_lines(dana: User) -> None:
    gone = factories.reviewer("gone@example.com")
    security_log.record(user_id=gone.pk, kind=SecurityEventKind.SIGNED_IN)
    security_log.record(user_id=dana.pk, kind=SecurityEventKind.RIGHTS_CHANGED, actor=gone)
    gone.delete()
    out = StringIO()
    call_command("security_log", stdout=out)
    _, first, second, _ = (json.loads(line) for line in out.getvalue().splitlines())
    assert (first["user"], first["kind"], second["user"], second["actor"]) == (
        None,
        "SIGNED_IN",
        "dana@example.com",
        None,
    )
    out = StringIO()
    call_command("security_log", since=now() + timedelta(seconds=1), stdout=out)
    assert out.getvalue() == ""
