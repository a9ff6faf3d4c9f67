"""Invitations and roles of a store that two people decide on at one moment."""

from collections import Counter
from typing import Any

import pytest
from django.core import mail

from accounts.enums import StoreRole
from accounts.models import Business, Staff, User
from accounts.services import deletion
from accounts.services.staff import STAFF
from common.errors import ServiceError
from tests import factories
from tests.threads import at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]


@pytest.fixture
def shop(mira: User) -> Business:
    return mira.businesses.get()


@pytest.fixture
def kim(db: None) -> User:
    return factories.merchant_without_store("kim@example.com", name="Kim")


def tried(call: Any, **arguments: Any) -> Any:
    """The name of the error, or that it went well."""

    def run() -> str:
        try:
            call(**arguments)
        except ServiceError as error:
            return type(error).__name__
        return "done"

    return run


@pytest.mark.spec("Contract 11 Staff", "Of two Accepts at once, one is right")
def test_accepted_twice_at_once(shop: Business, kim: User) -> None:
    for _ in range(3):
        row = STAFF.invite(shop, by=shop.owner, email=kim.email, role="MANAGER")
        token = STAFF.token_of(Staff.objects.get(pk=row.id))
        answers = at_once(*[tried(STAFF.accept, token=token, user=kim)] * 3)
        assert Counter(answers) == {"done": 1, "NotFound": 2}
        assert Staff.objects.get().user == kim
        STAFF.leave(shop, user=kim)


@pytest.mark.long
@pytest.mark.spec(
    "Contract 11 Staff", "An invitation that is accepted and taken back at once leaves one of both"
)
def test_accepted_and_taken_back_at_once(shop: Business, kim: User) -> None:
    for _ in range(5):
        row = STAFF.invite(shop, by=shop.owner, email=kim.email, role="MANAGER")
        token = STAFF.token_of(Staff.objects.get(pk=row.id))
        mail.outbox.clear()
        accepted, removed = at_once(
            tried(STAFF.accept, token=token, user=kim),
            tried(STAFF.remove, thing=shop, by=shop.owner, member_id=row.id),
        )
        assert (accepted, removed) in {("done", "done"), ("NotFound", "done")}
        assert not Staff.objects.exists()  # joined and was removed, or never joined


@pytest.mark.spec("Contract 11 Staff", "A role that changes while the person is removed gives no access back")
def test_role_changes_during_removal(shop: Business, kim: User) -> None:
    for _ in range(5):
        row = factories.staff(shop, kim, StoreRole.MANAGER)
        changed, removed = at_once(
            tried(STAFF.change_role, thing=shop, by=shop.owner, member_id=row.pk, role="ORDERS"),
            tried(STAFF.remove, thing=shop, by=shop.owner, member_id=row.pk),
        )
        assert removed == "done"
        assert changed in {"done", "NotFound"}
        assert not Staff.objects.exists()


def test_invited_twice_at_once(shop: Business) -> None:
    invite = tried(STAFF.invite, thing=shop, by=shop.owner, email="kim@example.com", role="ORDERS")
    assert Counter(at_once(invite, invite)) == {"done": 1, "Conflict": 1}
    assert Staff.objects.count() == 1


@pytest.mark.long
@pytest.mark.spec("Contract 11 Staff", "Who deletes the account and accepts at once leaves no row behind")
def test_accepted_while_the_account_is_deleted(shop: Business) -> None:
    for number in range(6):
        person = factories.merchant_without_store(f"kim{number}@example.com", name="Kim")
        row = STAFF.invite(shop, by=shop.owner, email=person.email, role="MANAGER")
        token = STAFF.token_of(Staff.objects.get(pk=row.id))
        accept = tried(STAFF.accept, token=token, user=person)
        answers = at_once(accept, tried(deletion.delete_account, user=person))
        assert answers[1] == "done"
        assert not Staff.objects.filter(user=person).exists()
        Staff.objects.all().delete()
