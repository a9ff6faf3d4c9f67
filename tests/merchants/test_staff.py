"""The staff of a store: inviting, accepting, roles, removing and leaving; and what each role reaches beside the pages of its table."""

import re
from datetime import timedelta
from typing import Any

import jwt
import pytest
import time_machine
from django.core import mail
from django.test import Client
from django.utils import timezone

from accounts.enums import Frequency, StoreNotice, StoreRole
from accounts.models import Business, Staff, User
from accounts.services import deletion
from accounts.services.confirmation import confirm, is_confirmed
from accounts.services.outbox import choose_frequencies, choose_mails
from accounts.services.sender import send_due
from accounts.services.staff import STAFF
from common.errors import NotAllowed
from extensions.enums import ExtensionType
from extensions.services.extension_states import save_settings
from extensions.services.notices import notify_merchants
from installations.models import Installation
from installations.services import decline_scopes, pause, resume
from marketplace.models import App
from stores.models import MerchantNews
from stores.services import merchant_mails
from stores.services.reviews import create_review
from tests import factories
from tests.extensions.cast import define
from tests.merchants.pages import ask_for_more, installed, listed_app, page_of
from tests.pages import main_words_of, signed_in, text_of, unescaped

SECTION = "Contract 11 Staff"
PAGE = "/merchant/staff/"

pytestmark = pytest.mark.django_db


@pytest.fixture
def kim() -> User:
    """Has an account, and no store."""
    return factories.merchant_without_store("kim@example.com", name="Kim")


@pytest.mark.spec(SECTION, "Who only handles orders decides nothing about the store's apps")
def test_who_handles_orders_decides_nothing_about_apps(shop: Business, dana: User) -> None:
    """Also if their role changed while they had the page open."""
    tom = factories.merchant_without_store("tom@example.com")
    factories.staff(shop, tom, StoreRole.ORDERS)
    made = installed(listed_app(dana, ["read_products"]), shop)
    acts: list[Any] = [
        lambda: pause(installation=made, user=tom),
        lambda: resume(installation=made, user=tom),
        lambda: decline_scopes(installation=made, user=tom),
        lambda: save_settings(installation=made, user=tom, values={}),
    ]
    for act in acts:
        with pytest.raises(NotAllowed, match="owner and its managers"):
            act()


@pytest.mark.spec(SECTION, "Both are notified when somebody joins, gets another role and is removed")
def test_owner_and_person_are_notified(
    shop: Business, mira: User, kim: User, django_capture_on_commit_callbacks: Any, tasks_run_at_once: None
) -> None:
    row = STAFF.invite(shop, by=mira, email=kim.email, role="ORDERS")
    token = STAFF.token_of(Staff.objects.get())
    send_due()
    mail.outbox.clear()
    for said, act in (
        (
            "kim@example.com belongs to {} now. Their role is Orders.",
            lambda: STAFF.accept(token=token, user=kim),
        ),
        (
            "The role of kim@example.com in {} is Manager now.",
            lambda: STAFF.change_role(shop, by=mira, member_id=row.id, role="MANAGER"),
        ),
        ("kim@example.com was removed from {}.", lambda: STAFF.remove(shop, by=mira, member_id=row.id)),
    ):
        with django_capture_on_commit_callbacks(execute=True):
            act()
        assert sorted(letter.to[0] for letter in mail.outbox) == [kim.email, mira.email]
        assert all(said.format(shop.name) in " ".join(str(letter.body).split()) for letter in mail.outbox)
        mail.outbox.clear()


def test_owner_of_one_store_decides_nothing_in_another(shop: Business, mira: User, kim: User) -> None:
    other = factories.merchant("tom@example.com")
    theirs = factories.staff(other.businesses.get(), kim)
    factories.staff(other.businesses.get(), mira, StoreRole.MANAGER)
    browser = signed_in(mira)
    for path in (f"{PAGE}{theirs.pk}/remove/", f"{PAGE}{theirs.pk}/role/"):
        assert browser.post(path, {"role": "ORDERS"}).status_code == 403
    stranger = factories.staff(factories.merchant("ann@example.com").businesses.get(), kim)
    assert browser.post(f"{PAGE}{stranger.pk}/remove/").status_code == 404
    assert Staff.objects.filter(user=kim).count() == 2


@pytest.mark.long
@pytest.mark.spec(SECTION, "/merchant/businesses/ belongs to the person, lists roles, and has Leave")
def test_person_sees_all_stores_with_roles_and_leaves(shop: Business, mira: User) -> None:
    tom = factories.merchant("tom@example.com", name="Tom")
    factories.staff(shop, tom, StoreRole.ORDERS)
    browser = signed_in(tom)
    listed = main_words_of(browser.get("/merchant/businesses/"))
    assert listed.index("Owner") < listed.index("Orders ·")
    assert "Leave" in listed
    switch = {"business": str(shop.pk)}
    assert (
        browser.post("/merchant/businesses/switch/", switch, follow=True).redirect_chain[-1][0]
        == "/merchant/orders/"
    )
    assert "Leave this store" in text_of(browser.get(f"/merchant/businesses/{shop.pk}/leave/"))
    left = browser.post(f"/merchant/businesses/{shop.pk}/leave/", follow=True)
    assert f"You left {shop.name}" in main_words_of(left)
    assert browser.post("/merchant/businesses/switch/", switch).status_code == 404
    own = tom.businesses.get()
    assert browser.post(f"/merchant/businesses/{own.pk}/leave/").status_code == 409
    assert browser.get("/merchant/").status_code == 200


@pytest.mark.spec(SECTION, "A sandbox store has no staff")
def test_sandbox_has_no_staff(dana: User, sandbox: Business) -> None:
    browser = signed_in(dana)
    assert "/merchant/staff/" not in text_of(browser.get("/merchant/"))
    assert browser.post(PAGE, {"email": "kim@example.com", "role": "ORDERS"}).status_code == 403
    assert not Staff.objects.exists()


@pytest.mark.long
def test_role_is_that_in_the_store_of_the_object(shop: Business) -> None:
    """Whichever store was chosen."""
    tom = factories.merchant("tom@example.com", name="Tom")
    factories.staff(shop, tom, StoreRole.ORDERS)
    mine, theirs = factories.product(tom.businesses.get()), factories.product(shop)
    browser = signed_in(tom)
    for chosen in (shop, tom.businesses.get()):
        browser.post("/merchant/businesses/switch/", {"business": str(chosen.pk)})
        assert browser.get(f"/merchant/products/{mine.pk}/").status_code == 200
        assert "Your role in" in text_of(browser.get(f"/merchant/products/{theirs.pk}/"), 403)
        assert browser.post(f"/merchant/products/{theirs.pk}/archive/").status_code == 403
        assert browser.get("/merchant/products/").status_code == (403 if chosen == shop else 200)
    assert browser.get(f"/merchant/products/?store={shop.slug}").status_code == 403


# What ORDERS sees


@pytest.mark.long
@pytest.mark.spec(SECTION, "No link leads who has ORDERS to a page that is refused")
def test_no_link_leads_to_a_refused_page(shop: Business, kim: User, app: App, dana: User) -> None:
    factories.staff(shop, kim, StoreRole.ORDERS)
    define(app, ExtensionType.ADMIN_PAGE, "summary")
    installation = installed(app, shop)
    ask_for_more(installation, ["read_products", "read_orders"])
    product = factories.product(shop, stock=0)
    order = factories.order(shop)
    order.items.create(product_id=product.pk, name=product.name, price=100, quantity=1)
    create_review(
        product=product, rating=4, author_name="Ann", comment="Good.", author_email="ann@example.com"
    )
    browser, seen = signed_in(kim), set()
    stored = text_of(browser.get("/merchant/customers/?email=ann%40example.com", follow=True), 200)
    assert "1 review" in stored
    assert "/erase/" not in stored
    assert "/export.json" not in stored
    waiting = [
        "/merchant/customers/?email=ann%40example.com",
        "/merchant/",
        "/",
        "/marketplace/",
        f"/marketplace/{app.slug}/",
    ]
    while waiting:
        path = waiting.pop()
        answer = browser.get(path, follow=True)
        assert answer.status_code in (200, 404), path  # an app that isn't listed has no page
        links = re.findall(r'href="(/merchant/[^"#?]*|/oauth/[^"#]*)', answer.content.decode())
        new = {link for link in links if not link.endswith(".csv")} - seen
        seen |= new
        waiting += sorted(new)
    assert f"/merchant/orders/{order.pk}/" in seen
    assert "/merchant/reviews/" in seen


# Consent, tokens, notices


@pytest.mark.spec(
    "Contract 15 Doors", "No mail about an account carries free text of a person to an unconfirmed address"
)
def test_store_is_named_to_confirmed_addresses_only(
    browser: Client,
    shop: Business,
    mira: User,
    kim: User,
    settings: Any,
    django_capture_on_commit_callbacks: Any,
    tasks_run_at_once: None,
) -> None:
    """Nor does an owner invite anybody before the address is confirmed."""
    settings.CONFIRM_ADDRESSES = True
    row = Staff.objects.create(business=shop, user=kim, role="ORDERS", invited_by=mira)
    confirm(user=kim)
    assert not is_confirmed(mira)
    page = browser.post(PAGE, {"email": "tim@example.com", "role": "ORDERS"})
    assert "Confirm your e-mail address first." in unescaped(page, 403)
    assert not Staff.objects.filter(email="tim@example.com").exists()
    mail.outbox.clear()
    with django_capture_on_commit_callbacks(execute=True):
        STAFF.change_role(shop, by=mira, member_id=row.pk, role="MANAGER")
    assert [letter.to for letter in mail.outbox] == [["kim@example.com"]]


@pytest.fixture
def listed(dana: User) -> App:
    return listed_app(dana, ["read_products"])


@pytest.mark.spec(SECTION, "Consent and Install are for owner and managers, a 403 page else")
@pytest.mark.parametrize(("role", "status"), [(StoreRole.MANAGER, 302), (StoreRole.ORDERS, 403)])
def test_consent_by_role(shop: Business, kim: User, listed: App, role: StoreRole, status: int) -> None:
    factories.staff(shop, kim, role)
    browser = signed_in(kim)
    for named in ("", f"&business_id={shop.pk}"):
        url = f"/oauth/authorize?response_type=code&client_id={listed.client_id}&state=x{named}"
        page = browser.get(url)
        assert page.status_code == (200 if status == 302 else 403)
        sent = browser.post(url, {"answer": "install", "scopes": "read_products"})
        assert sent.status_code == status
        if status == 403:
            assert "Your role is Orders" in text_of(page)
            assert "code=" not in sent.get("location", "")


def test_consent_names_a_store_of_which_one_is_staff_for_orders_only(
    shop: Business, listed: App, kim: User
) -> None:
    """Their store is offered, the other one refused. Without any there is nothing to install on."""
    tom = factories.merchant("tom@example.com", name="Tom")
    factories.staff(shop, tom, StoreRole.ORDERS)
    url = f"/oauth/authorize?response_type=code&client_id={listed.client_id}&state=x"
    page = unescaped(signed_in(tom).get(url), 200)
    assert (tom.businesses.get().name in page, shop.name in page) == (True, False)
    assert signed_in(tom).get(f"{url}&business_id={shop.pk}").status_code == 403
    assert signed_in(tom).get(f"{url}&business_id={tom.businesses.get().pk}").status_code == 200
    assert "You have no store to install the app on." in unescaped(signed_in(kim).get(url), 403)
    stranger = signed_in(factories.merchant("ann@example.com")).get(f"{url}&business_id={shop.pk}")
    assert "access_denied" in stranger["location"]


@pytest.mark.spec(SECTION, "The session token has staffRole, service:init stays as it is")
@pytest.mark.parametrize("role", [StoreRole.OWNER, StoreRole.MANAGER])
def test_session_token_names_the_role(
    shop: Business, listed: App, mira: User, kim: User, role: StoreRole
) -> None:
    define(listed, ExtensionType.ADMIN_PAGE, "summary")
    installation = installed(listed, shop)
    person = mira if role == StoreRole.OWNER else kim
    if role != StoreRole.OWNER:
        factories.staff(shop, kim, role)
    claims = claims_of(person, installation)
    assert (claims["staffRole"], claims["sub"]) == (role.value, str(person.pk))
    page = unescaped(signed_in(person).get(page_of(installation, "pages/summary/")), 200)
    assert '"role": "MERCHANT"' in page


def test_session_token_of_a_sandbox_names_none(app: App, dana: User, sandbox: Business) -> None:
    define(app, ExtensionType.ADMIN_PAGE, "summary")
    assert "staffRole" not in claims_of(dana, factories.installation(app, sandbox))


def claims_of(person: User, installation: Installation) -> dict[str, Any]:
    answer = signed_in(person).get(page_of(installation, "session-token/"))
    claims: dict[str, Any] = jwt.decode(answer.json()["sessionToken"], options={"verify_signature": False})
    return claims


@pytest.mark.spec(SECTION, "Notices about apps go to the owner and managers who want them")
def test_mails_about_apps_go_to_owner_and_managers(
    shop: Business, mira: User, kim: User, listed: App, django_capture_on_commit_callbacks: Any
) -> None:
    factories.staff(shop, kim, StoreRole.MANAGER)
    factories.staff(shop, factories.merchant_without_store("orders@example.com"), StoreRole.ORDERS)
    installation = installed(listed, shop)
    ask_for_more(installation, ["read_products", "read_orders"])
    with django_capture_on_commit_callbacks(execute=True):
        notify_merchants()
    send_due()
    assert sorted(letter.to for letter in mail.outbox) == [["kim@example.com"], ["mira@example.com"]]
    mail.outbox.clear()
    choose_mails(user=mira, wanted=[])
    Installation.objects.update(reconsent_notified_at=None)
    with django_capture_on_commit_callbacks(execute=True):
        notify_merchants()
    send_due()
    assert [letter.to for letter in mail.outbox] == [["kim@example.com"]]


@pytest.mark.spec(
    SECTION, "Each person of a store has their own notices; ORDERS gets those of orders and reviews"
)
def test_each_person_has_their_own_notices(shop: Business, mira: User, kim: User) -> None:
    pia = factories.merchant_without_store("pia@example.com", name="Pia")
    factories.staff(shop, kim, StoreRole.MANAGER)
    factories.staff(shop, pia, StoreRole.ORDERS)
    for person in (mira, kim, pia):
        often = {StoreNotice.LOW_STOCK: Frequency.EACH}
        choose_frequencies(user=person, chosen=often)
    choose_frequencies(user=kim, chosen={StoreNotice.NEW_ORDERS: Frequency.DAILY})
    order, product = factories.order(shop), factories.product(shop, stock=0)
    now = timezone.now()
    merchant_mails.note(business=shop, kind=StoreNotice.NEW_ORDERS, now=now, about_id=order.pk)
    merchant_mails.note(business=shop, kind=StoreNotice.LOW_STOCK, now=now, about_id=product.pk)
    send_due()
    mail.outbox.clear()
    merchant_mails.send_due(now=timezone.now())
    send_due()
    sent = sorted(
        (letter.to[0].partition("@")[0], letter.subject.partition(" ")[0]) for letter in mail.outbox
    )
    assert sent == [("kim", "Product"), ("mira", "New"), ("mira", "Product"), ("pia", "New")]
    merchant_mails.send_due(now=timezone.now())
    send_due()
    assert len(mail.outbox) == 4
    assert MerchantNews.objects.get().recipient == kim
    STAFF.remove(shop, by=mira, member_id=Staff.objects.get(user=kim).pk)
    with time_machine.travel(now + timedelta(days=2)):
        merchant_mails.send_due()
        send_due()
    assert not [each.subject for each in mail.outbox[4:] if "staff" not in each.subject]
    assert not MerchantNews.objects.exists()


# Accounts that are deleted


@pytest.mark.long
@pytest.mark.spec(
    SECTION, "Deleting an account lets the staff of its stores go, and leaves others' stores open"
)
def test_deleted_accounts(
    shop: Business, mira: User, kim: User, django_capture_on_commit_callbacks: Any, tasks_run_at_once: None
) -> None:
    tom = factories.merchant("tom@example.com", name="Tom")
    factories.staff(shop, tom, StoreRole.MANAGER)
    own = tom.businesses.get()
    factories.staff(own, kim, StoreRole.MANAGER)
    STAFF.invite(own, by=tom, email="ann@example.com", role="ORDERS")
    page = unescaped(signed_in(tom).get("/accounts/profile/delete/"), 200)
    assert f"You leave {shop.name}, which stays open." in page
    mail.outbox.clear()
    with django_capture_on_commit_callbacks(execute=True):
        deletion.delete_account(user=tom)
    assert not Staff.objects.exists()
    told = {letter.to[0] for letter in mail.outbox}
    assert {"mira@example.com", "kim@example.com"} <= told
    closed = [letter.to for letter in mail.outbox if letter.subject.startswith(own.name)]
    assert closed == [["kim@example.com"]]
    assert "ann@example.com" not in told
    assert signed_in(mira).get("/merchant/").status_code == 200
    assert signed_in(kim).get("/merchant/orders/")["location"] == "/merchant/businesses/add/"
