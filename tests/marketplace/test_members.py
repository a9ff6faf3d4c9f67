"""Members of an app and its transfer, below the API and the portal."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from accounts.models import User
from common.errors import Conflict, NotAllowed, NotFound
from extensions.services.manifests import restore_version, save_manifest
from marketplace.enums import AppRole
from marketplace.models import App
from marketplace.services import members, releases, reviews
from marketplace.services.apps import rotate_client_secret
from marketplace.services.members import MEMBERS
from marketplace.signals import developer_left
from tests import factories
from tests.signals import heard

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stopped_clock")]


@pytest.fixture
def kim(db: None) -> User:
    return factories.developer("kim@example.com", name="Kim")


def test_owner_by_a_transfer_is_listed_since_then(app: App, dana: User, sam: User) -> None:
    factories.member(app, sam)
    members.offer_transfer(app=app, by=dana, email=sam.email, now=NOW)
    changed = members.accept_transfer(app=app, by=sam, now=NOW + HOUR)
    found = {each.email: (each.role, each.since) for each in MEMBERS.people_of(changed, NOW + HOUR)}
    assert found == {sam.email: ("OWNER", NOW + HOUR), dana.email: ("DEVELOPER", NOW + HOUR)}


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
        lambda: MEMBERS.invite(app, by=sam, email="new@example.com", role="VIEWER"),
        lambda: MEMBERS.remove(app, by=sam, member_id=dana.pk),
        lambda: members.offer_transfer(app=app, by=sam, email=sam.email),
    ):
        with pytest.raises(NotFound, match="App not found"):
            act()


def test_new_role_ends_an_offer(app: App, dana: User, sam: User) -> None:
    row = factories.member(app, sam)
    members.offer_transfer(app=app, by=dana, email=sam.email, now=NOW)
    MEMBERS.change_role(app, by=dana, member_id=row.pk, role="DEVELOPER")
    assert members.transfer_offer_of(app, NOW) == row
    MEMBERS.change_role(app, by=dana, member_id=row.pk, role="VIEWER")
    assert members.transfer_offer_of(app, NOW) is None
    with pytest.raises(Conflict):
        members.accept_transfer(app=app, by=sam, now=NOW)


def test_only_the_owner_offers_the_app(app: App, sam: User, kim: User) -> None:
    factories.member(app, kim)
    factories.member(app, sam)
    acts: list[Any] = [
        lambda: members.offer_transfer(app=app, by=sam, email=kim.email),
        lambda: members.withdraw_transfer_offer(app=app, by=sam),
    ]
    for act in acts:
        with pytest.raises(NotAllowed):
            act()
    App.objects.update(developer=sam)
    for act in acts:
        act()


def test_developer_who_becomes_a_viewer_or_leaves_loses_the_test_install(
    app: App, dana: User, sam: User
) -> None:
    """A viewer who becomes a developer, and a person who is only invited, lose none."""
    row = factories.member(app, sam)
    with heard(developer_left) as left:
        for role, expected in (("DEVELOPER", 0), ("VIEWER", 1), ("DEVELOPER", 1)):
            changed = MEMBERS.change_role(app, by=dana, member_id=row.pk, role=role, now=NOW)
            assert (changed.role, len(left)) == (role, expected)
        invited = MEMBERS.invite(app, by=dana, email="new@example.com", role="DEVELOPER")
        MEMBERS.change_role(app, by=dana, member_id=invited.id, role="VIEWER")
        MEMBERS.remove(app, by=dana, member_id=invited.id)
        assert len(left) == 1
        MEMBERS.remove(app, by=sam, member_id=row.pk, now=NOW + HOUR)
        factories.member(app, sam, AppRole.VIEWER)
        MEMBERS.leave_all(user=sam, now=NOW)
    assert [(call["app"], call["user"], call["now"]) for call in left] == [
        (app, sam, NOW), (app, sam, NOW + HOUR), (app, sam, NOW)
    ]  # fmt: skip
    with heard(developer_left) as left:
        row = factories.member(app, sam)
        MEMBERS.change_role(app, by=dana, member_id=row.pk, role="VIEWER")
        MEMBERS.remove(app, by=dana, member_id=row.pk)
    assert [call["now"] > NOW for call in left] == [True, True]
