"""`/developer/apps/:appId/members` and `/transfer` (contract, section 11)."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.utils import timezone

from accounts.enums import TokenRight
from accounts.models import Business, SecurityEvent, User
from accounts.services import invitations
from accounts.services.developer_tokens import create_developer_token
from common.errors import Conflict, NotAllowed
from installations.models import Installation
from marketplace.enums import AppRole
from marketplace.models import App, Membership
from marketplace.services import members, reviews
from marketplace.services.members import MEMBERS
from tests import factories
from tests.clients import BODY, Api, api_of
from webhooks.models import Erasure

SECTION = "Contract 11 Members"
NOTHING = "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a04"

pytestmark = pytest.mark.django_db


def path(app: App, *parts: object) -> str:
    return "/".join(["/developer/apps", str(app.pk), *map(str, parts)])


def rows(api: Api, app: App) -> list[Any]:
    return list(api("get", path(app, "members")).json()["data"])


@pytest.mark.spec(SECTION, "The app has the caller's role; a member has the app among theirs")
def test_each_member_has_the_app_with_their_role(api: Api, sams_api: Api, app: App, sam: User) -> None:
    assert api("get", path(app)).json()["role"] == "OWNER"
    assert sams_api("get", path(app)).status_code == 404
    assert sams_api("get", "/developer/apps").json()["data"] == []
    factories.member(app, sam, AppRole.VIEWER)
    factories.app(sam)
    assert sams_api("get", path(app)).json()["role"] == "VIEWER"
    assert [each["role"] for each in sams_api("get", "/developer/apps").json()["data"]] == ["OWNER", "VIEWER"]
    assert sams_api("post", "/developer/apps", BODY).json()["role"] == "OWNER"


@pytest.mark.spec(
    SECTION, "An invitation is 201 for every address, and mails a link that only Accept uses up"
)
def test_invitation_for_any_address(
    api: Api,
    app: App,
    dana: User,
    sam: User,
    mira: User,
    tasks_run_at_once: None,
    django_capture_on_commit_callbacks: Any,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        answers = [
            api("post", path(app, "members"), {"email": email, "role": "DEVELOPER"})
            for email in (f" {sam.email.upper()} ", mira.email, "nobody@example.com")
        ]
    assert [answer.status_code for answer in answers] == [201] * 3
    found = answers[0].json()
    assert (found["email"], found["name"], found["role"]) == (sam.email, None, "DEVELOPER")
    assert [(each["state"], each["role"]) for each in rows(api, app)] == [("INVITED", "DEVELOPER")] * 3 + [
        ("ACTIVE", "OWNER")
    ]
    assert [letter.to for letter in mail.outbox] == [[sam.email], [mira.email], ["nobody@example.com"]]
    assert dana.email in str(mail.outbox[0].body)
    assert app.name in str(mail.outbox[0].body)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"email": "kim@example.com", "role": "OWNER"}, 400),
        ({"email": "kim", "role": "VIEWER"}, 400),
        ({"role": "VIEWER"}, 400),
        ({"email": "DANA@example.com", "role": "VIEWER"}, 409),
        ({"email": "sam@example.com", "role": "VIEWER"}, 409),
        ({"email": "invited@example.com", "role": "VIEWER"}, 409),
    ],
)
def test_invitations_that_are_refused(
    api: Api, app: App, sam: User, dana: User, body: dict[str, str], status: int
) -> None:
    factories.member(app, sam)
    MEMBERS.invite(app, by=dana, email="invited@example.com", role="VIEWER")
    assert api("post", path(app, "members"), body).status_code == status
    assert Membership.objects.count() == 2


def test_expired_invitation_is_gone_and_can_be_sent_again(api: Api, app: App, dana: User) -> None:
    row = MEMBERS.invite(app, by=dana, email="kim@example.com", role="VIEWER")
    with time_machine.travel(timezone.now() + timedelta(days=7, seconds=1)):
        api = api_of(dana)
        assert [each["state"] for each in rows(api, app)] == ["ACTIVE"]
        assert api("delete", path(app, "members", row.id)).status_code == 404
        body = {"email": "kim@example.com", "role": "VIEWER"}
        assert api("post", path(app, "members"), body).status_code == 201


@pytest.mark.long
def test_too_many_invitations_and_members(api: Api, app: App, monkeypatch: Any, stopped_clock: None) -> None:
    for number in range(invitations.A_MINUTE):
        body = {"email": f"kim{number}@example.com", "role": "VIEWER"}
        assert api("post", path(app, "members"), body).status_code == 201
    refused = api("post", path(app, "members"), {"email": "kim@example.com", "role": "VIEWER"})
    assert (refused.status_code, refused["X-Error-Code"]) == (429, "too_many_invitations")
    monkeypatch.setattr(invitations, "A_MINUTE", 100)
    monkeypatch.setattr(MEMBERS, "most", 11)
    refused = api("post", path(app, "members"), {"email": "zoe@example.com", "role": "VIEWER"})
    assert (refused.status_code, refused["X-Error-Code"]) == (409, "too_many_members")


@pytest.mark.long
@pytest.mark.spec(SECTION, "PATCH gives another role, also to one who is invited; the owner's row is a 409")
def test_roles_are_changed(api: Api, app: App, dana: User, sam: User) -> None:
    member = factories.member(app, sam)
    invited = MEMBERS.invite(app, by=dana, email="kim@example.com", role="VIEWER")
    assert api("patch", path(app, "members", member.pk), {"role": "VIEWER"}).json()["role"] == "VIEWER"
    assert api("patch", path(app, "members", invited.id), {"role": "DEVELOPER"}).json()["role"] == "DEVELOPER"
    assert api("patch", path(app, "members", member.pk), {"role": "OWNER"}).status_code == 400
    for method, body in (("patch", {"role": "VIEWER"}), ("delete", None)):
        refused = api(method, path(app, "members", dana.pk), body)
        assert (refused.status_code, refused["X-Error-Code"]) == (409, "owner_stays")
    other = factories.member(factories.app(dana), sam)
    assert api("patch", path(app, "members", other.pk), {"role": "VIEWER"}).status_code == 404


@pytest.mark.spec(SECTION, "Who is removed, leaves or becomes a viewer loses the test install at once")
@pytest.mark.parametrize("how", ["removed", "viewer", "left"])
@pytest.mark.parametrize("is_test", [True, False])
def test_test_install_ends_with_the_role(
    api: Api, sams_api: Api, app: App, sam: User, how: str, is_test: bool
) -> None:
    member = factories.member(app, sam)
    token = sams_api("post", path(app, "test-install")).json()["accessToken"]
    store = sams_api("post", path(app, "test-stores"), {"scenario": "empty"}).json()["id"]
    assert sams_api("get", f"/developer/test-stores/{store}/calls").status_code == 200
    installation = Installation.objects.get(business=Business.objects.sandbox_of(sam))
    assert installation.is_own
    Installation.objects.update(is_test=is_test)
    own = factories.installation(app, Business.objects.sandbox_of(app.developer))
    if how == "viewer":
        api("patch", path(app, "members", member.pk), {"role": "VIEWER"})
    else:
        call = sams_api if how == "left" else api
        assert call("delete", path(app, "members", member.pk)).status_code == 204
    installation.refresh_from_db()
    own.refresh_from_db()
    assert (installation.is_active, own.is_active) == (False, True)
    assert [each.installation for each in Erasure.objects.all()] == [installation]
    assert not Installation.objects.active().filter(token_digest=installation.ended_token_digest).exists()
    assert token.startswith("fbat_test_")
    assert sams_api("get", f"/developer/test-stores/{store}/calls").status_code == 404
    expected = 200 if how == "viewer" else 404
    assert sams_api("get", path(app)).status_code == expected
    assert sams_api("post", path(app, "test-install")).status_code == (403 if how == "viewer" else 404)


@pytest.mark.spec(SECTION, "A member may leave; only the owner removes another")
def test_only_the_owner_removes_others(app: App, dana: User, sam: User) -> None:
    kim = factories.developer("kim@example.com", name="Kim")
    factories.member(app, sam)
    other = factories.member(app, kim, AppRole.VIEWER)
    refused = api_of(sam)("delete", path(app, "members", other.pk))
    assert (refused.status_code, refused["X-Error-Code"]) == (403, "wrong_app_role")
    assert "DEVELOPER" in refused.json()["message"]
    for unknown in (dana.pk, NOTHING, "nothing"):
        assert api_of(sam)("delete", path(app, "members", unknown)).status_code == 403
    assert api_of(kim)("delete", path(app, "members", other.pk)).status_code == 204
    told = SecurityEvent.objects.filter(kind="MEMBER_REMOVED").values_list("user", flat=True)
    assert set(told) == {dana.pk, kim.pk}


@pytest.mark.spec(SECTION, "A transfer is offered to an active DEVELOPER, who then is the owner")
def test_transfer(api: Api, sams_api: Api, app: App, dana: User, sam: User) -> None:
    factories.member(app, sam)
    assert api("get", path(app, "transfer")).json() == {"state": "NONE"}
    offered = api("post", path(app, "transfer"), {"email": sam.email})
    assert (offered.status_code, offered.json()["email"]) == (202, sam.email)
    assert sams_api("get", path(app, "transfer")).json() == offered.json()
    members.accept_transfer(app=app, by=sam)
    assert sams_api("get", path(app)).json()["role"] == "OWNER"
    assert api("get", path(app)).json()["role"] == "DEVELOPER"
    assert api("get", path(app, "transfer")).json() == {"state": "NONE"}
    assert {(each["email"], each["role"]) for each in rows(api, app)} == {
        (sam.email, "OWNER"), (dana.email, "DEVELOPER")
    }  # fmt: skip
    for person in (dana, sam):
        kinds = SecurityEvent.objects.filter(user=person).values_list("kind", flat=True)
        assert {"APP_OFFERED", "APP_TRANSFERRED"} <= set(kinds)


def test_transfers_that_are_refused(api: Api, app: App, dana: User, sam: User, rita: User) -> None:
    factories.member(app, rita)
    viewer = factories.member(app, sam, AppRole.VIEWER)
    MEMBERS.invite(app, by=dana, email="kim@example.com", role="DEVELOPER")
    for email, status in (
        ("stranger@example.com", 404), ("kim@example.com", 409), (sam.email, 409), (dana.email, 409), (rita.email, 409),
    ):  # fmt: skip
        assert api("post", path(app, "transfer"), {"email": email}).status_code == status, email
    with pytest.raises(Conflict, match="offered"):
        members.accept_transfer(app=app, by=sam)
    viewer.role = AppRole.DEVELOPER
    viewer.save()
    api("post", path(app, "transfer"), {"email": sam.email})
    assert api("delete", path(app, "transfer")).status_code == 204
    with pytest.raises(Conflict, match="offered"):
        members.accept_transfer(app=app, by=sam)


@pytest.fixture
def rita(db: None) -> User:
    return factories.reviewer()


def test_offer_ends_with_the_member_and_after_seven_days(api: Api, app: App, sam: User, dana: User) -> None:
    member = factories.member(app, sam)
    members.offer_transfer(app=app, by=dana, email=sam.email)
    later = timezone.now() + timedelta(days=7, seconds=1)
    with time_machine.travel(later), pytest.raises(Conflict, match="offered"):
        members.accept_transfer(app=app, by=sam)
    api("patch", path(app, "members", member.pk), {"role": "VIEWER"})
    api("patch", path(app, "members", member.pk), {"role": "DEVELOPER"})
    assert api("get", path(app, "transfer")).json() == {"state": "NONE"}


@pytest.mark.usefixtures("tasks_run_at_once")
def test_both_are_mailed_and_who_has_too_many_apps_takes_none(
    app: App, dana: User, sam: User, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    factories.member(app, sam)
    with django_capture_on_commit_callbacks(execute=True):
        members.offer_transfer(app=app, by=dana, email=sam.email)
    monkeypatch.setattr("marketplace.services.apps.MOST_APPS", 0)
    with pytest.raises(Conflict, match="at most 0 apps"):
        members.accept_transfer(app=app, by=sam)
    monkeypatch.undo()
    with django_capture_on_commit_callbacks(execute=True):
        members.accept_transfer(app=app, by=sam)
    assert [(each.subject, each.to[0]) for each in mail.outbox] == [
        (f"The transfer of {app.name} is offered", dana.email),
        (f"The transfer of {app.name} is offered", sam.email),
        (f"{app.name} has another owner", dana.email),
        (f"{app.name} has another owner", sam.email),
    ]
    for each in mail.outbox:
        assert f"/portal/apps/{app.slug}/" in each.body


def test_second_offer_replaces_the_first(api: Api, app: App, sam: User) -> None:
    kim = factories.developer("kim@example.com")
    for person in (sam, kim):
        factories.member(app, person)
        assert api("post", path(app, "transfer"), {"email": person.email}).status_code == 202
    assert api("get", path(app, "transfer")).json()["email"] == kim.email
    with pytest.raises(Conflict, match="offered"):
        members.accept_transfer(app=app, by=sam)
    assert members.accept_transfer(app=app, by=kim).developer == kim


@pytest.mark.spec(SECTION, "A developer token needs the right members")
def test_token_needs_the_right(app: App, dana: User) -> None:
    for rights, status in (([], 403), ([TokenRight.MEMBERS], 201)):
        issued = create_developer_token(
            user=dana, name=str(status), lifetime=timedelta(days=1), rights=rights
        )
        call = api_of(dana, issued.text)
        body = {"email": "kim@example.com", "role": "VIEWER"}
        assert call("post", path(app, "members"), body).status_code == status
        assert call("get", path(app, "members")).status_code == 200


@pytest.mark.spec(SECTION, "A reviewer who is a member can't decide (403)")
def test_reviewer_who_is_a_member_does_not_decide(app: App, rita: User) -> None:
    submission = factories.submit(app)
    factories.member(app, rita, AppRole.VIEWER)
    with pytest.raises(NotAllowed, match="member"):
        reviews.take(submission=submission, reviewer=rita)
