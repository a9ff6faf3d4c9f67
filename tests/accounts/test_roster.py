"""The rules that the rosters of apps and of stores share. Those of one are beside the tests of its door."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.apps import apps
from django.core import mail
from django.test import Client
from django.utils import timezone

from accounts.enums import StoreRole
from accounts.models import LASTS, Business, Mail, SecurityEvent, User
from accounts.services.confirmation import confirm, is_confirmed
from accounts.services.roster import Roster
from accounts.services.sender import send_due
from accounts.services.staff import STAFF
from common.errors import Conflict, NotAllowed, NotFound
from marketplace.enums import AppRole
from marketplace.models import App
from marketplace.services.members import MEMBERS
from tests import factories
from tests.pages import HTML, main_words_of, signed_in, text_of

HOUR = timedelta(hours=1)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stopped_clock")]


def of_both(rule: str) -> Callable[[Any], Any]:
    """A rule of the contract that a test holds for both."""
    marks = [pytest.mark.spec(f"Contract 11 {section}", rule) for section in ("Members", "Staff")]
    return lambda test: marks[0](marks[1](test))


@dataclass(frozen=True, slots=True)
class Group:
    """An app or a store of `owner`. `high` and `low` are the roles that can be given, `home` is a page for both."""

    roster: Roster[Any, Any]
    thing: Any
    other: Any
    owner: User
    high: Any
    low: Any
    page: str
    home: str
    person: Callable[..., User]
    add: Callable[..., Any]

    @property
    def rows(self) -> Any:
        return self.roster.model.objects.all()

    def invite(self, email: str, role: Any = None, **more: Any) -> Any:
        return self.roster.invite(self.thing, by=self.owner, email=email, role=role or self.low, **more)

    def link_for(self, email: str, role: Any = None) -> str:
        """The path of an invitation's link, as it is mailed."""
        send_due()
        mail.outbox.clear()
        self.invite(email, role)
        send_due()
        found = re.search(rf"/{self.roster.path}/\S+/", str(mail.outbox[0].body))
        assert found
        return found[0]

    def logged(self, person: User) -> list[str]:
        """Lines of the person's security log, without what all of them begin with."""
        rows = SecurityEvent.objects.filter(user_id=person.pk, kind__startswith=self.roster.log_kinds)
        return [
            f"{row.kind.partition('_')[2]} {row.about.removeprefix(self.thing.name)}"
            for row in rows.order_by("id")
        ]

    def lets_in(self, browser: Client) -> bool:
        return browser.get(self.home).status_code == 200


def members() -> Group:
    dana = factories.developer("dana@example.com", name="Dana")
    app, other = (
        factories.app(dana, name=name, slug=slug) for name, slug in (("Stars", "stars"), ("Bell", "bell"))
    )
    roles, page = (AppRole.DEVELOPER, AppRole.VIEWER), "/portal/apps/stars/"
    return Group(
        MEMBERS, app, other, dana, *roles, f"{page}members/", page, factories.developer, factories.member
    )


def staff() -> Group:
    mira = factories.merchant("mira@example.com", name="Mira")
    confirm(user=mira)
    shop, other = mira.businesses.get(), factories.merchant("ann@example.com").businesses.get()
    roles, pages = (StoreRole.MANAGER, StoreRole.ORDERS), ("/merchant/staff/", "/merchant/orders/")
    return Group(STAFF, shop, other, mira, *roles, *pages, factories.merchant_without_store, factories.staff)


@pytest.fixture(params=[members, staff])
def group(request: Any, db: None) -> Group:
    made: Group = request.param()
    return made


@pytest.fixture
def browser(group: Group) -> Client:
    return signed_in(group.owner)


@pytest.fixture
def kim(group: Group) -> User:
    return group.person("kim@example.com", name="Kim")


@pytest.fixture
def now() -> datetime:
    return timezone.now()


def test_there_is_one_roster() -> None:
    """A table of people with roles, or who are invited by mail, is one that a `Roster` writes."""
    for model in apps.get_models():
        names = {field.name for field in model._meta.get_fields()}
        is_one = {"role", "user"} <= names or {"email", "invited_by"} <= names
        assert is_one == (model in (MEMBERS.model, STAFF.model)), model


def test_list_has_everyone_newest_first(group: Group, kim: User, now: datetime) -> None:
    type(group.thing).objects.update(created_at=now - HOUR)
    group.thing.refresh_from_db()
    row = group.add(group.thing, kim, group.high)
    group.invite("New@Example.com", now=now + HOUR)
    invited, member, owner = group.roster.people_of(group.thing, now + HOUR)
    assert [
        (each.email, each.name, each.role, each.state, each.is_owner) for each in (invited, member, owner)
    ] == [
        ("new@example.com", None, group.low, "INVITED", False),
        ("kim@example.com", "Kim", group.high, "ACTIVE", False),
        (group.owner.email, group.owner.name, "OWNER", "ACTIVE", True),
    ]
    assert (invited.expires_at, member.expires_at, owner.expires_at) == (now + HOUR + LASTS, None, None)
    assert (member.id, owner.id, owner.since) == (row.pk, group.owner.pk, now - HOUR)
    assert [each.id for each in group.roster.people_of(group.thing, now + HOUR + LASTS)] == [
        member.id,
        owner.id,
    ]


def test_invitation_clears_away_expired_ones_and_no_people(group: Group, kim: User, now: datetime) -> None:
    group.add(group.thing, kim)
    group.rows.update(since=now - 10 * LASTS)
    for email, at in (("old@example.com", now - LASTS), ("open@example.com", now - LASTS + HOUR)):
        group.invite(email, now=at)
    group.invite("new@example.com", now=now)
    assert {row.address for row in group.rows} == {kim.email, "open@example.com", "new@example.com"}


@of_both("The owner alone invites, changes roles and removes")
@pytest.mark.parametrize("role", ["OWNER", "high", "low"])
def test_role_that_changed_since_the_page_decides(group: Group, kim: User, role: str) -> None:
    by, is_owner = group.owner, role == "OWNER"
    if not is_owner:
        by = group.person("tom@example.com")
        group.add(group.thing, by, getattr(group, role))
    row = group.add(group.thing, kim, group.low)
    acts: list[Any] = [
        lambda: group.roster.invite(group.thing, by=by, email="new@example.com", role=group.low),
        lambda: group.roster.change_role(group.thing, by=by, member_id=row.pk, role=group.high),
        lambda: group.roster.remove(group.thing, by=by, member_id=row.pk),
    ]
    for act in acts:
        if is_owner:
            act()
        else:
            with pytest.raises(NotAllowed, match="Only"):
                act()
    assert group.rows.filter(user=kim, role=group.low).exists() != is_owner
    assert group.rows.filter(user=None).exists() == is_owner


def test_owner_stays(group: Group) -> None:
    owner, thing = group.owner, group.thing
    for act in (
        lambda: group.roster.leave(thing, user=owner),
        lambda: group.roster.change_role(thing, by=owner, member_id=owner.pk, role=group.low),
    ):
        with pytest.raises(Conflict, match="owner can't be changed or removed") as caught:
            act()
        assert caught.value.code == "owner_stays"


def test_logs_have_what_happened(group: Group, kim: User) -> None:
    """The owner's has all of it, and a person's what is about them."""
    roster, owner, thing = group.roster, group.owner, group.thing
    group.invite(kim.email)
    row = group.rows.get()
    roster.change_role(thing, by=owner, member_id=row.pk, role=group.high)
    roster.accept(token=roster.token_of(row), user=kim)
    for _ in range(2):
        roster.change_role(thing, by=owner, member_id=row.pk, role=group.low)
    roster.remove(thing, by=owner, member_id=row.pk)
    group.add(thing, kim)
    roster.leave(thing, user=kim)
    high, low, about = group.high.label, group.low.label, ": kim@example.com"
    as_low, joined = (f" as {low}", "") if roster is MEMBERS else (f", {low}", f", {high}")
    before = [f"INVITED {about}{as_low}", f"ROLE_CHANGED {about}, {high}"]
    after = [f"JOINED {about}{joined}", f"ROLE_CHANGED {about}, {low}", *[f"REMOVED {about}"] * 2]
    assert (group.logged(owner), group.logged(kim)) == (before + after, after)


def test_deleted_account_leaves_all_of_others(group: Group, kim: User) -> None:
    tom = group.person("tom@example.com")
    for thing in (group.thing, group.other):
        group.add(thing, tom)
        group.add(thing, kim)
    group.roster.leave_all(user=kim)
    assert {(group.roster.thing_of(row), row.user) for row in group.rows} == {
        (group.thing, tom),
        (group.other, tom),
    }
    assert group.logged(group.owner)[0] == "REMOVED : kim@example.com"


# Invitations


@pytest.mark.long
def test_owner_invites_and_the_list_says_so(browser: Client, group: Group) -> None:
    page = browser.post(group.page, {"email": "Kim@example.com", "role": group.high}, follow=True)
    assert "kim@example.com is invited" in main_words_of(page)
    assert group.rows.get().role == group.high
    for email, role, status, said in (
        ("kim@example.com", group.low, 409, "invited already"),
        (group.owner.email, group.low, 409, group.roster.is_on_it),
        ("kim", group.low, 422, "Enter an e-mail address"),
        ("tim@example.com", "OWNER", 422, "Select a valid choice"),
    ):
        assert said in text_of(browser.post(group.page, {"email": email, "role": role}), status)


@of_both("Looking at an invitation uses nothing up, Accept does")
def test_invited_person_accepts(group: Group, kim: User, now: datetime) -> None:
    link, browser = group.link_for(kim.email), signed_in(kim)
    said = f"{group.owner.email} invites kim@example.com {group.roster.roles[group.low].invited}."
    for _ in range(2):
        assert said in main_words_of(browser.get(link))
    assert not group.lets_in(browser)
    with time_machine.travel(now + HOUR):
        accepted = browser.post(link)
    assert group.lets_in(browser)
    assert browser.get(accepted["location"], follow=True).status_code == 200
    row = group.rows.get()
    assert (row.user, row.email, row.role, row.since - now >= HOUR) == (kim, "", group.low, True)
    for gone in (browser.get(link), browser.post(link)):
        assert f"no longer works. Ask the owner of the {group.roster.thing}" in text_of(gone, 404)
    assert is_confirmed(kim)


@of_both("Who has no account registers by the link, which confirms the address; they need no store")
@pytest.mark.parametrize("confirming", [True, False])
def test_who_has_no_account_registers_by_the_link(group: Group, settings: Any, confirming: bool) -> None:
    settings.CONFIRM_ADDRESSES = confirming
    link, browser = group.link_for("new@example.com", group.high), Client(headers=HTML)
    assert "Create account" in text_of(browser.get(link), 200)
    weak = browser.post(f"{link}register/", {"name": "Kim", "password": "x"})
    assert (weak.status_code, User.objects.filter(email="new@example.com").exists()) == (422, False)
    done = browser.post(f"{link}register/", {"name": "Kim", "password": "a long enough phrase"})
    assert (done.status_code, done["location"]) == (302, link)
    made = User.objects.get(email="new@example.com")
    assert (made.role, is_confirmed(made)) == (group.roster.accounts[0], True)
    stores = Business.objects.filter(owner=made).values_list("is_sandbox", flat=True)
    assert list(stores) == ([] if made.is_merchant else [True])
    assert not group.rows.filter(user=made).exists()
    browser.post(link)
    assert group.rows.get().user == made
    assert group.lets_in(browser)


@of_both("The link is for its address only; accounts of another kind are refused with a sentence")
def test_link_is_for_its_address_only(group: Group, kim: User) -> None:
    other = (factories.developer if kim.is_merchant else factories.merchant)("other@example.com")
    link, said = group.link_for(other.email), f"This is a {other.get_role_display().lower()}’s account. "
    said += f"{group.roster.thing.title()}s belong to {kim.get_role_display().lower()}s"
    assert said in main_words_of(signed_in(other).get(link))
    assert said in text_of(signed_in(other).post(link), 403)
    assert "This invitation is for other@example.com" in main_words_of(signed_in(kim).get(link))
    assert signed_in(kim).post(link).status_code == 403
    assert not group.rows.filter(user__isnull=False).exists()
    assert Client(headers=HTML).get(link[:-2] + "x/").status_code == 404


@of_both("A reviewer may belong to an app, and sees it in the administration; no store has one")
def test_reviewers_belong_to_apps_only(group: Group) -> None:
    rae, is_app = factories.reviewer(), group.roster is MEMBERS
    answer = signed_in(rae).post(group.link_for(rae.email))
    assert (answer.status_code, answer.get("location")) == ((302, "/admin/") if is_app else (403, None))
    assert group.rows.filter(user=rae).exists() == is_app


@of_both("An invitation works for seven days, until it is taken back, and not without what it is to")
@pytest.mark.parametrize("how", ["late", "taken back", "ended"])
def test_invitation_ends(browser: Client, group: Group, kim: User, now: datetime, how: str) -> None:
    link = group.link_for(kim.email)
    if how == "taken back":
        remove = f"{group.page}{group.rows.get().pk}/remove/"
        assert "Take the invitation back" in text_of(browser.get(remove), 200)
        browser.post(remove)
    elif how == "ended":
        App.objects.update(deleted_at=now)
        User.objects.exclude(pk=kim.pk).update(deleted_at=now)
    with time_machine.travel(now + LASTS - (timedelta() if how == "late" else HOUR)):
        assert signed_in(kim).post(link).status_code == 404
    assert not group.rows.filter(user=kim).exists()


@pytest.mark.parametrize("person", ["member", "deleted"])
def test_invitation_is_not_accepted_by(group: Group, kim: User, now: datetime, person: str) -> None:
    group.invite(kim.email)
    token = group.roster.token_of(group.rows.get())
    if person == "member":
        group.add(group.thing, kim)
    else:
        User.objects.filter(pk=kim.pk).update(deleted_at=now)
    said = f"of|to {group.thing.name} already" if person == "member" else "account was deleted"
    with pytest.raises((NotAllowed, NotFound), match=said):
        group.roster.accept(token=token, user=kim)
    assert group.rows.filter(user=None).exists()


def test_mail_of_an_invitation_says_who_invites_to_what(group: Group, kim: User) -> None:
    for role, of_app, of_store in (
        (group.low, " as a viewer", ", for its orders, reviews and customers"),
        (group.high, " as a developer", " as a manager"),
    ):
        link, letter = group.link_for(kim.email, role), mail.outbox[0]
        said = of_app if group.roster is MEMBERS else of_store
        assert (letter.to, letter.subject) == (
            [kim.email],
            f"Invitation to {group.thing.name} on Extension Platform",
        )
        body = " ".join(str(letter.body).split())
        assert (
            f"{group.owner.email} invites you to the {group.roster.thing} {group.thing.name}{said}." in body
        )
        assert group.roster.token_of(group.rows.get()) in link
        group.rows.delete()
    group.invite("new@example.com")
    group.rows.update(invited_by=None)
    assert send_due() == 0, "The mail would name the inviter, whose account is gone."
    group.rows.all().delete()
    group.invite("ann@example.com")
    group.rows.update(user=kim)
    assert (send_due(), Mail.objects.exists()) == (0, False), "A person who has accepted gets no mail."


@of_both("An address is invited once, and there are at most 50 people")
def test_address_is_invited_once(group: Group, kim: User, monkeypatch: pytest.MonkeyPatch) -> None:
    group.add(group.thing, kim)
    group.invite("new@example.com")
    for email, said in (
        (kim.email, group.roster.is_on_it),
        ("new@example.com", "This address is invited already."),
    ):
        with pytest.raises(Conflict, match=re.escape(said)) as caught:
            group.invite(email)
        assert caught.value.code == "member_exists"
    assert group.roster.most == 50
    monkeypatch.setattr(group.roster, "most", 3)
    with pytest.raises(Conflict, match="at most 3") as caught:
        group.invite("more@example.com")
    assert caught.value.code == "too_many_members"
    by = group.roster.owner_of(group.other)
    invited = group.roster.invite(group.other, by=by, email=kim.email, role=group.low)
    assert invited.state == "INVITED"


# Roles and removal


@of_both("A removed person is out at once")
def test_owner_changes_a_role_and_removes(browser: Client, group: Group, kim: User) -> None:
    row, theirs = group.add(group.thing, kim, group.high), signed_in(kim)
    assert group.lets_in(theirs)
    page = main_words_of(browser.post(f"{group.page}{row.pk}/role/", {"role": group.low}, follow=True))
    said = (
        "kim@example.com is a viewer now"
        if group.roster is MEMBERS
        else "The role of kim@example.com is Orders now"
    )
    assert said in page
    assert browser.post(f"{group.page}{row.pk}/role/", {"role": "OWNER"}).status_code == 400
    assert group.rows.get().role == group.low
    page = main_words_of(browser.post(f"{group.page}{row.pk}/remove/", follow=True))
    assert "kim@example.com was removed." in page
    assert not group.lets_in(theirs)


def test_row_of_another_or_an_expired_invitation_is_not_found(group: Group, kim: User, now: datetime) -> None:
    others, expired = group.add(group.other, kim), group.add(group.thing, kim)
    group.rows.filter(pk=expired.pk).update(user=None, email="old@example.com", since=now - LASTS)
    for row in (others, expired):
        with pytest.raises(NotFound, match=group.roster.unknown):
            group.roster.remove(group.thing, by=group.owner, member_id=row.pk)
    assert group.rows.count() == 2
