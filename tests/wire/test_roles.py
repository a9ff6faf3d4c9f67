"""Every URL of the portal and the developer API with every role on an app, against a table that is written down here.

The URLs come from the URL confs, so one without a row fails.
"""

import re
from collections.abc import Callable
from typing import Any, Final

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from accounts.sign_in import tokens
from common.web.methods import methods_of
from marketplace.enums import AppRole, AppStatus
from marketplace.models import App
from marketplace.services import members
from tests import factories
from tests.pages import signed_in
from tests.wire.app_routes import PERSONAL, routes

pytestmark = pytest.mark.django_db

# The roles that get past the question. Everyone below VIEWER (removed, invited, a stranger) gets a 404 at an app's URL.
ALL: Final = ("OWNER", "DEVELOPER", "VIEWER")
DEVELOP: Final = ("OWNER", "DEVELOPER")
OWN: Final = ("OWNER",)
OUTSIDE: Final = ("removed", "invited", "stranger")

_READ_WRITE: Final = {"GET": ALL, "POST": DEVELOP}
_READ: Final = {"GET": ALL}
_WRITE: Final = {"POST": DEVELOP}

PORTAL: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "app": _READ, "app_edit": _READ_WRITE, "redirect_result": _READ, "credentials": _READ,
    "client_secret": {"GET": DEVELOP, "POST": DEVELOP},
    "manifest": _READ_WRITE, "manifest_check": {"POST": ALL}, "manifest_download": _READ, "manifest_history": _READ,
    "manifest_restore": _READ_WRITE,
    "test_install": _READ_WRITE, "test_uninstall": _READ_WRITE, "test_change": _WRITE, "test_effects": _READ, "erase_now": _WRITE,
    "inbox": _READ_WRITE, "inbox_entries": _READ, "test_event": _READ_WRITE,
    "webhooks": _READ, "webhook_add": _READ_WRITE, "webhook_edit": _READ_WRITE, "webhook_delete": _READ_WRITE, "webhook_test": _WRITE,
    "webhook_pause": _READ_WRITE, "webhook_resume": _WRITE,
    "logs": _READ, "log_news": _READ, "requests": _READ, "request_news": _READ, "request": _READ, "thread": _READ, "scopes": _READ_WRITE,
    "deliveries": _READ, "delivery_news": _READ, "deliveries_resend": _READ_WRITE, "group_resend": _WRITE, "why": _READ,
    "recover": _READ_WRITE, "delivery": _READ, "delivery_compare": _READ, "delivery_resend": _WRITE,
    "hooks": _READ, "hook": _READ, "hook_try": _READ_WRITE, "hook_call": _READ, "hook_reset": _WRITE,
    "erasures": _READ, "scripts": _READ, "analytics": _READ, "analytics_csv": _READ, "checks": _READ_WRITE, "check": _READ,
    "signature_checker": {"GET": ALL, "POST": ALL},
    "review": _READ, "submit": _READ_WRITE, "review_message": _READ_WRITE, "withdraw": _READ_WRITE,
    "versions": _READ, "version_restore": _READ_WRITE,
    "release": _READ, "release_move": _WRITE, "take_back": _READ_WRITE,
    "members": {"GET": ALL, "POST": OWN}, "member_role": {"POST": OWN}, "member_remove": {"GET": OWN, "POST": OWN},
    "secret_kept": _WRITE,
    "transfer": {"GET": OWN, "POST": OWN}, "transfer_withdraw": {"POST": OWN}, "transfer_accept": {"GET": DEVELOP, "POST": DEVELOP},
    "app_delete": {"GET": OWN, "POST": OWN},
}  # fmt: skip

API: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "app": {"GET": ALL, "PATCH": DEVELOP, "DELETE": OWN}, "client_secret": _WRITE,
    "members": {"GET": ALL, "POST": OWN}, "member": {"PATCH": OWN, "DELETE": OWN},
    "transfer": {"GET": ALL, "POST": OWN, "DELETE": OWN},
    "manifest": {"GET": ALL, "PUT": DEVELOP}, "check_manifest": {"POST": ALL},
    "release": _READ, "advance_release": _WRITE, "halt_release": _WRITE, "resume_release": _WRITE, "take_back": _WRITE,
    "submit": _WRITE, "submissions": _READ, "versions": _READ, "restore_version": _WRITE, "withdraw": _WRITE,
    "test_install": _WRITE, "test_status": _READ, "test_uninstall": _WRITE, "make_test_change": _WRITE, "test_events": _WRITE,
    "activity": _READ, "test_stores": {"GET": ALL, "POST": DEVELOP},
    "listen": _WRITE, "listener": {"DELETE": DEVELOP}, "listener_work": _WRITE, "listener_answers": _WRITE,
    "checks": _WRITE, "check": _READ, "check_responses": _WRITE,
    "analytics": _READ, "deliveries": _READ, "delivery": _READ, "redeliver": _WRITE,
}  # fmt: skip

TABLE: Final = {f"portal:{name}": row for name, row in PORTAL.items()} | {
    f"developer_api:{name}": row for name, row in API.items()
}
# The member here is another one, or none: all may remove their own row (`tests/developers/api/test_members.py`).
NOTHING: Final = "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a04"
VALUES: Final = {"slug": "stars", "section": "access", "point": "order.validate", "number": "1", "token": "x"}


def methods(view: Callable[..., Any]) -> set[str]:
    return set(methods_of(view)) - {"HEAD", "OPTIONS"}


def test_every_url_has_a_row() -> None:
    found = {name: methods(view) for name, _, view in routes() if name not in PERSONAL}
    assert {name: set(row) for name, row in TABLE.items()} == found


@pytest.fixture
def people(stars: App, dana: User) -> dict[str, User]:
    cast = {
        name: factories.developer(f"{name.lower()}@example.com", name=name) for name in (*ALL[1:], *OUTSIDE)
    }
    factories.member(stars, cast["DEVELOPER"], AppRole.DEVELOPER)
    factories.member(stars, cast["VIEWER"], AppRole.VIEWER)
    gone = factories.member(stars, cast["removed"])
    members.remove(app=stars, by=dana, member_id=gone.pk)
    members.invite(app=stars, by=dana, email=cast["invited"].email, role="DEVELOPER")
    return {"OWNER": dana} | cast


@pytest.fixture
def stars(dana: User) -> App:
    return factories.app(dana, name="Loyalty Stars", slug="stars")


def client_for(path: str, person: User) -> Client:
    if path.startswith("/portal/"):
        return signed_in(person)
    return Client(headers={"authorization": f"Bearer {tokens.issue(person).access}"})


def url_of(path: str, app: App) -> str:
    values = VALUES | {"app_id": str(app.pk)}
    return re.sub(r"%\((\w+)\)s", lambda found: values.get(found[1], NOTHING), path)


@pytest.mark.long
def test_every_role_may_do_what_the_table_says(people: dict[str, User], stars: App, settings: Any) -> None:
    """A refusal of the role is a 403 that names it. A request that gets past may fail for other reasons: the forms here are empty."""
    settings.STEP_UP = False
    wrong = []
    asked = 0
    for role, person in people.items():
        for name, path, view in routes():
            if name in PERSONAL:
                continue
            client, url = client_for(path, person), url_of(path, stars)
            for method in sorted(methods(view)):
                if (name, method, role) == ("developer_api:app", "DELETE", "OWNER"):
                    continue  # it would work
                answer = client.generic(method, url, "{}", content_type=content_type(path))
                asked += 1
                allowed = TABLE[name][method]
                names_role = f"Your role on this app is {role}." in answer.content.decode(errors="replace")
                if role in OUTSIDE:
                    right = answer.status_code in (404, 400) and not names_role
                elif role in allowed:
                    right = not names_role and answer.status_code != 403
                else:
                    right = answer.status_code == 403 and names_role
                if not right:
                    wrong.append(f"{role} {method} {name}: {answer.status_code}")
    assert not wrong
    assert asked > 500


@pytest.mark.long
@pytest.mark.spec("Contract 9 Precise points", "403 before 404 and 409")
def test_refusal_of_the_role_comes_before_what_the_state_refuses(
    people: dict[str, User], stars: App, dana: User, settings: Any
) -> None:
    """Here the owner would get a 409 for most calls: the app is in review and suspended, and the member is its owner."""
    settings.STEP_UP = False
    App.objects.filter(pk=stars.pk).update(status=AppStatus.PENDING_REVIEW, suspended_at=timezone.now())
    wrong, asked = [], 0
    for role in ("DEVELOPER", "VIEWER"):
        for name, path, view in routes():
            if name in PERSONAL:
                continue
            url = url_of(path.replace("%(member_id)s", str(dana.pk)), stars)
            for method in sorted(methods(view)):
                if role not in TABLE[name][method]:
                    answer = client_for(path, people[role]).generic(
                        method, url, "[1", content_type=content_type(path)
                    )
                    asked += 1
                    if answer.status_code != 403:
                        wrong.append(f"{role} {method} {name}: {answer.status_code}")
    assert not wrong
    assert asked > 60


def content_type(path: str) -> str:
    return "application/json" if path.startswith("/developer/") else "application/x-www-form-urlencoded"
