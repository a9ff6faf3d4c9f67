"""Members of an app and its transfer, below the API and the portal."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from accounts.models import LASTS, Mail, SecurityEvent, User
from accounts.services.sender import send_due
from common.errors import Conflict, Invalid, NotAllowed, NotFound
from extensions.services.manifests import save_manifest
from extensions.services.versions import restore_version
from marketplace.enums import AppRole
from marketplace.models import App, Membership
from marketplace.services import members, releases, reviews, transfers
from marketplace.services.apps import rotate_client_secret
from marketplace.signals import developer_left
from tests import factories
from tests.signals import heard

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stopped_clock")]


def told(*people: User) -> list[tuple[str, str]]:
    """The kinds of events in their security logs, with whom each is about."""
    events = SecurityEvent.objects.filter(user__in=people).order_by("id")
    return [(event.kind, event.about) for event in events]


def states(app: App, now: datetime) -> Iterable[tuple[str, str | None, str, str]]:
    return [(each.email, each.name, each.role, each.state) for each in members.members_of(app, now)]


@pytest.fixture
def kim(db: None) -> User:
    return factories.developer("kim@example.com", name="Kim")


def test_list_has_everyone_newest_first(app: App, dana: User, sam: User) -> None:
    App.objects.update(created_at=NOW - HOUR)
    app.refresh_from_db()
    row = factories.member(app, sam)
    Membership.objects.update(since=NOW)
    members.invite(app=app, by=dana, email="New@Example.com", role="VIEWER", now=NOW + HOUR)
    assert states(app, NOW + HOUR) == [
        ("new@example.com", None, "VIEWER", "INVITED"),
        ("sam@example.com", "Sam", "DEVELOPER", "ACTIVE"),
        ("dana@example.com", "Dana", "OWNER", "ACTIVE"),
    ]
    invited, member, owner = members.members_of(app, NOW + HOUR)
    assert (invited.expires_at, member.expires_at, owner.expires_at) == (NOW + HOUR + LASTS, None, None)
    assert (member.id, owner.id, owner.since) == (row.pk, dana.pk, NOW - HOUR)


def test_owner_by_a_transfer_is_listed_since_then(app: App, dana: User, sam: User) -> None:
    factories.member(app, sam)
    transfers.offer(app=app, by=dana, email=sam.email, now=NOW)
    changed = transfers.accept_transfer(app=app, by=sam, now=NOW + HOUR)
    found = {each.email: (each.role, each.since) for each in members.members_of(changed, NOW + HOUR)}
    assert found == {sam.email: ("OWNER", NOW + HOUR), dana.email: ("DEVELOPER", NOW + HOUR)}


def test_invitation_clears_away_expired_ones_and_no_members(app: App, dana: User, sam: User) -> None:
    factories.member(app, sam)
    Membership.objects.update(since=NOW - 10 * LASTS)
    for email, at in (("old@example.com", NOW - LASTS), ("open@example.com", NOW - LASTS + HOUR)):
        members.invite(app=app, by=dana, email=email, role="VIEWER", now=at)
    members.invite(app=app, by=dana, email="new@example.com", role="VIEWER", now=NOW)
    assert {row.address for row in Membership.objects.all()} == {
        "sam@example.com", "open@example.com", "new@example.com",
    }  # fmt: skip


@pytest.mark.parametrize("role", ["OWNER", "ADMIN", ""])
def test_role_that_cannot_be_given(app: App, dana: User, sam: User, role: str) -> None:
    row = factories.member(app, sam)
    with pytest.raises(Invalid):
        members.invite(app=app, by=dana, email="new@example.com", role=role)
    with pytest.raises(Invalid):
        members.change_role(app=app, by=dana, member_id=row.pk, role=role)
    assert Membership.objects.get().role == "DEVELOPER"


@pytest.mark.parametrize("role", AppRole)
def test_members_are_managed_by_the_owner_alone(app: App, sam: User, kim: User, role: AppRole) -> None:
    if role == AppRole.OWNER:
        App.objects.update(developer=sam)
    else:
        factories.member(app, sam, role)
    row = factories.member(app, kim)
    acts: list[Any] = [
        lambda: members.invite(app=app, by=sam, email="new@example.com", role="VIEWER"),
        lambda: members.change_role(app=app, by=sam, member_id=row.pk, role="VIEWER"),
        lambda: members.change_role(app=app, by=sam, member_id=row.pk, role="DEVELOPER"),
        lambda: transfers.offer(app=app, by=sam, email=kim.email),
        lambda: transfers.withdraw_offer(app=app, by=sam),
        lambda: members.remove(app=app, by=sam, member_id=row.pk),
    ]
    for act in acts:
        if role == AppRole.OWNER:
            act()
        else:
            with pytest.raises(NotAllowed):
                act()
    assert Membership.objects.filter(user=kim).exists() == (role != AppRole.OWNER)
    assert Membership.objects.filter(user=None).exists() == (role == AppRole.OWNER)


def test_viewers_change_nothing_of_the_app(app: App, sam: User) -> None:
    """Also if their role changed while they had the page open."""
    factories.member(app, sam, AppRole.VIEWER)
    factories.approve(app)
    acts: list[Any] = [
        lambda: rotate_client_secret(app=app, by=sam),
        lambda: save_manifest(app=app, developer=sam, document={}),
        lambda: restore_version(app=app, developer=sam, number=1),
        lambda: reviews.submit(app=app, developer=sam),
        lambda: reviews.withdraw(app=app, developer=sam),
        lambda: releases.halt(app=app, by=sam),
        lambda: releases.take_back(app=app, by=sam),
    ]
    for act in acts:
        with pytest.raises(NotAllowed, match="VIEWER"):
            act()


def test_strangers_find_no_members(app: App, dana: User, sam: User) -> None:
    for act in (
        lambda: members.invite(app=app, by=sam, email="new@example.com", role="VIEWER"),
        lambda: members.remove(app=app, by=sam, member_id=dana.pk),
        lambda: transfers.offer(app=app, by=sam, email=sam.email),
    ):
        with pytest.raises(NotFound, match="App not found"):
            act()


def test_change_of_a_role_tells_whom_it_is_about(app: App, dana: User, sam: User, kim: User) -> None:
    row = factories.member(app, sam)
    with heard(developer_left) as left:
        assert members.change_role(app=app, by=dana, member_id=row.pk, role="DEVELOPER").role == "DEVELOPER"
        assert (told(dana, sam), left) == ([], [])
        members.change_role(app=app, by=dana, member_id=row.pk, role="VIEWER", now=NOW)
        assert [(call["user"], call["now"]) for call in left] == [(sam, NOW)]
        members.change_role(app=app, by=dana, member_id=row.pk, role="DEVELOPER")
        invited = members.invite(app=app, by=dana, email="new@example.com", role="DEVELOPER")
        members.change_role(app=app, by=dana, member_id=invited.id, role="VIEWER")
        members.remove(app=app, by=dana, member_id=invited.id)
        assert len(left) == 1, "Who becomes a developer, and who is only invited, loses no test install."
    changed = [
        ("MEMBER_ROLE_CHANGED", f"{app.name}: sam@example.com, {role}") for role in ("Viewer", "Developer")
    ]
    assert told(sam) == changed
    assert told(dana) == [
        *changed,
        ("MEMBER_INVITED", f"{app.name}: new@example.com as Developer"),
        ("MEMBER_ROLE_CHANGED", f"{app.name}: new@example.com, Viewer"),
        ("MEMBER_REMOVED", f"{app.name}: new@example.com"),
    ]
    assert told(kim) == []
    with heard(developer_left) as left:
        members.change_role(app=app, by=dana, member_id=row.pk, role="VIEWER")
        members.remove(app=app, by=dana, member_id=row.pk)
    assert [call["now"] > NOW for call in left] == [True, True]


def test_new_role_ends_an_offer(app: App, dana: User, sam: User) -> None:
    row = factories.member(app, sam)
    transfers.offer(app=app, by=dana, email=sam.email, now=NOW)
    members.change_role(app=app, by=dana, member_id=row.pk, role="DEVELOPER")
    assert transfers.offer_of(app, NOW) == row
    members.change_role(app=app, by=dana, member_id=row.pk, role="VIEWER")
    assert transfers.offer_of(app, NOW) is None
    with pytest.raises(Conflict):
        transfers.accept_transfer(app=app, by=sam, now=NOW)


def test_removal_tells_both_and_ends_the_test_install(app: App, dana: User, sam: User) -> None:
    row = factories.member(app, sam)
    with heard(developer_left) as left:
        members.remove(app=app, by=sam, member_id=row.pk, now=NOW)
    assert [(call["app"], call["user"], call["now"]) for call in left] == [(app, sam, NOW)]
    assert told(sam) == told(dana) == [("MEMBER_REMOVED", f"{app.name}: sam@example.com")]
    assert not Membership.objects.exists()
    with pytest.raises(Conflict, match="owner can't be changed or removed"):
        members.remove(app=app, by=dana, member_id=dana.pk)


def test_who_deletes_the_account_leaves_all_apps(app: App, dana: User, sam: User, kim: User) -> None:
    other = factories.app(dana, name="Order Bell", slug="order-bell")
    for each in (app, other):
        factories.member(each, sam)
        factories.member(each, kim)
    with heard(developer_left) as left:
        members.leave_all(user=sam, now=NOW)
    assert {(call["app"], call["user"], call["now"]) for call in left} == {(app, sam, NOW), (other, sam, NOW)}
    assert {(row.app, row.user) for row in Membership.objects.all()} == {(app, kim), (other, kim)}
    assert [kind for kind, _ in told(sam)] == ["MEMBER_REMOVED"] * 2


# Invitations


@pytest.fixture
def token(app: App, dana: User) -> str:
    """Of Sam's invitation."""
    members.invite(app=app, by=dana, email="sam@example.com", role="VIEWER", now=NOW)
    return members.invitation_token(Membership.objects.get())


def test_invited_person_accepts_once(app: App, dana: User, sam: User, token: str) -> None:
    later = NOW + LASTS - HOUR
    assert members.find_invitation(token, later).app == app
    assert members.accept(token=token, user=sam, now=later) == app
    row = Membership.objects.get()
    assert (row.user, row.email, row.role, row.since) == (sam, "", "VIEWER", later)
    joined = ("MEMBER_JOINED", f"{app.name}: sam@example.com")
    assert (joined in told(dana), joined in told(sam)) == (True, True)
    with pytest.raises(NotFound, match="no longer works"):
        members.accept(token=token, user=sam, now=later)


def test_invitation_ends_after_seven_days_and_with_the_app(app: App, sam: User, token: str) -> None:
    with pytest.raises(NotFound, match="no longer works"):
        members.find_invitation(token, NOW + LASTS)
    App.objects.update(deleted_at=NOW)
    with pytest.raises(NotFound, match="no longer works"):
        members.accept(token=token, user=sam, now=NOW)
    assert Membership.objects.get().user is None


@pytest.mark.parametrize(
    ("person", "said"),
    [
        ("kim", "This invitation is for sam@example.com"),
        ("merchant", "This is a merchant"),
        ("member", "already"),
        ("deleted", "account was deleted"),
    ],
)
def test_invitation_is_not_accepted_by(
    app: App, sam: User, kim: User, token: str, person: str, said: str
) -> None:
    if person == "merchant":
        User.objects.filter(pk=sam.pk).update(role="MERCHANT")
    elif person == "member":
        factories.member(app, sam)
    elif person == "deleted":
        User.objects.filter(pk=sam.pk).update(deleted_at=NOW)
    sam.refresh_from_db()
    with pytest.raises((NotAllowed, NotFound), match=said):
        members.accept(token=token, user=kim if person == "kim" else sam, now=NOW)
    assert Membership.objects.filter(user=None).exists()


def test_mail_of_an_invitation_says_who_invites_to_what(
    app: App, dana: User, sam: User, token: str, mailoutbox: list[Any]
) -> None:
    row = Membership.objects.get()
    send_due()
    (mail,) = mailoutbox
    assert (mail.to, mail.subject) == ([sam.email], f"Invitation to {app.name} on Extension Platform")
    assert all(each in mail.body for each in (dana.email, "viewer", f"/portal/invitations/{token}/"))
    members.invite(app=app, by=dana, email="new@example.com", role="DEVELOPER", now=NOW)
    members.mail_invitation(row)
    members.accept(token=token, user=sam, now=NOW)
    Membership.objects.update(invited_by=None)
    assert send_due() == 0, (
        "A person who has accepted gets no mail, nor does one whom an account invited that is gone."
    )
    assert not Mail.objects.exists()


def test_member_of_another_app_or_an_expired_invitation_is_not_found(
    app: App, dana: User, sam: User, kim: User
) -> None:
    others = factories.member(factories.app(sam, name="Order Bell", slug="order-bell"), kim)
    expired = factories.member(app, kim)
    Membership.objects.filter(pk=expired.pk).update(
        user=None, email="old@example.com", since=NOW - 10 * LASTS
    )
    for row in (others, expired):
        with pytest.raises(NotFound, match="Member not found"):
            members.remove(app=app, by=dana, member_id=row.pk)
    assert Membership.objects.count() == 2


def test_address_is_invited_once(app: App, dana: User, sam: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "MOST_MEMBERS", 3)
    factories.member(app, sam)

    def refused(email: str) -> object:
        with pytest.raises(Conflict) as caught:
            members.invite(app=app, by=dana, email=email, role="VIEWER", now=NOW)
        return caught.value.code, str(caught.value)

    members.invite(app=app, by=dana, email="new@example.com", role="VIEWER", now=NOW)
    for email in (dana.email, sam.email):
        assert refused(email) == ("member_exists", "This person is a member already.")
    assert refused("new@example.com") == ("member_exists", "This address is invited already.")
    assert refused("more@example.com")[0] == "too_many_members"  # type: ignore[index]
    other = factories.app(dana, name="Order Bell", slug="order-bell")
    assert members.invite(app=other, by=dana, email=sam.email, role="VIEWER").state == "INVITED"
