"""What happens to what people type in the portal, the dashboard and the review desk (contract, section 15, "What people typed").

A form that is added without a row here fails.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.conf import settings as django_settings
from django.db import OperationalError, connection
from django.test import Client, override_settings
from django.utils import timezone

from accounts.models import Business, Session, User
from accounts.services import create_reviewer, developer_tokens
from common.web.forms import pages
from extensions.enums import ExtensionType
from extensions.manifest.text import written
from extensions.models import Manifest, Placement
from extensions.services.extension_states import add_block
from installations.models import Installation
from marketplace.enums import AppRole
from marketplace.models import App, Membership, ReviewMessage, Submission
from marketplace.scopes import SCOPES
from marketplace.services import reviews
from marketplace.services.pictures import Decoded, store
from stores.models import OrderChange, Product, SitePage
from stores.services.catalogue import products
from stores.services.pages import create_page
from tests import factories
from tests.by_hand import Form, Page
from tests.deliveries import REFUSED, delivery
from tests.extensions.cast import define
from tests.extensions.settings import give_settings
from tests.forms import HTML, filled, form_at, form_on, send
from tests.merchants.pages import installed
from tests.pages_table import BY_A_LINK, PRESS, ROWS, UNKEPT
from tests.pictures import picture
from tests.webhooks import helpers
from tests.wire.pages import name_at
from webhooks.enums import DeliveryStatus, InboxAnswer
from webhooks.models import Delivery, Webhook
from webhooks.services import inboxes

RULE = "Contract 15 Doors"
AREAS = ("portal:", "merchants:", "admin:marketplace_")
Typed = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """A form, with what one person types into it, and what another window changes meanwhile."""

    page: str  # that has it
    mine: Typed
    action: str = ""  # if not the page's own address
    theirs: Typed | None = None  # in the same field; None if it can't be another value than mine
    other: Typed | None = None  # in another field; None if there is no other
    press: Typed = field(default_factory=dict)  # the button
    having: str = ""  # a field that only this one of the forms for its address has
    count: Callable[[], int] | None = None  # what it creates


def manifest(timeout: int) -> str:
    return written({"hooks": [{"hookPoint": "order.validate", "url": "hooks", "timeout": timeout}]})


EDITS = [
    Row("/merchant/store/", {"tagline": "Fresh"}, theirs={"tagline": "Warm"}, other={"hero_text": "Hello"}),
    Row("/merchant/notices/", {"mails": ["erasures"]}, theirs={"mails": ["failing_apps"]}),
    Row("/merchant/products/{product}/", {"name": "Rye"}, theirs={"name": "Spelt"}, other={"price": "7.00"}),
    Row("/merchant/products/", {"stock": "12"}, "/merchant/products/{product}/row/", theirs={"stock": "9"}, other={"price": "7.00"}),
    Row("/merchant/apps/{installation}/", {"most_discount": "30"}, theirs={"most_discount": "20"}, other={"{script}": None}),
    Row("/merchant/apps/{installation}/checkout/", {"unchecked": "refuse"}, "/merchant/apps/{installation}/checkout/refusal/"),
    Row("/merchant/apps/{installation}/settings/", {"heading": "Mine"}, theirs={"heading": "Theirs"}, other={"message": "Hi"}),
    Row("/merchant/apps/{installation}/embeds/{script}/", {"heading": "Mine"}, theirs={"heading": "Theirs"}, other={"message": "Hi"}),
    Row("/merchant/pages/{page}/edit/", {"title": "Mine"}, theirs={"title": "Theirs"}, other={"content": "One\n\nTwo"}),
    Row("/merchant/pages/{page}/edit/?block={block}", {"settings-heading": "Mine"}, "/merchant/pages/{page}/blocks/{block}/", theirs={"settings-heading": "Theirs"}, other={"settings-message": "Hi"}),
    Row("/portal/apps/{slug}/details/", {"name": "Suns"}, theirs={"name": "Moons"}, other={"description": "Shines."}),
    Row("/portal/apps/{slug}/details/pictures/", {"alt_{first}": "Mine"}, theirs={"alt_{first}": "Theirs"}, other={"alt_{second}": "Hers"}),
    Row("/portal/apps/{slug}/details/access/", {"scopes": ["read_orders"]}, theirs={"scopes": ["read_products"]}, other={"redirect_url": "https://new.example.com/back"}),
    Row("/portal/apps/{slug}/details/events/", {"webhook_events": ["order.created"]}, theirs={"webhook_events": ["order.cancelled"]}, other={"webhook_url": "https://new.example.com/in"}),
    Row("/portal/apps/{slug}/manifest/", {"manifest": manifest(2000)}, theirs={"manifest": manifest(3000)}, press={"confirm": ""}),
    Row("/portal/apps/{slug}/webhooks/{webhook}/edit/", {"description": "Till"}, theirs={"description": "Shop"}, other={"events": ["order.cancelled"]}),
    Row("/portal/apps/{slug}/inbox/", {"answer": "ERROR"}, theirs={"answer": "SLOW"}, having="shown", press={"action": "answer"}),
    Row("/admin/marketplace/submission/{submission}/change/", {"quality-note": "Mine"}, "/admin/marketplace/submission/{submission}/findings/", theirs={"quality-note": "Theirs"}, other={"policy-note": "Fine"}),
]  # fmt: skip
NEW = [
    Row("/merchant/products/add/", {"name": "Rye", "price": "5"}, count=Product.objects.count),
    Row("/merchant/businesses/add/", {"name": "Third"}, count=Business.objects.count),
    Row("/merchant/pages/add/", {"title": "Hours"}, count=SitePage.objects.count),
    Row("/merchant/orders/{order}/", {"text": "Ring twice"}, "/merchant/orders/{order}/note/", count=OrderChange.objects.count),
    Row("/merchant/orders/{paid}/refund/", {"amount": "1.00", "reason": "Sold out"}, count=OrderChange.objects.count),
    Row("/portal/create/", {"name": "Suns", "redirect_url": "https://a.example.com/back"}, count=App.objects.count),
    Row("/portal/apps/{slug}/webhooks/new/", {"url": "https://b.example.com/in", "events": ["order.created"]}, count=Webhook.objects.count),
    Row("/portal/apps/{sent}/review/", {"text": "Hello?"}, "/portal/apps/{sent}/review/messages/", count=ReviewMessage.objects.count),
    Row("/admin/marketplace/submission/{submission}/change/", {"text": "Hello?"}, "/admin/marketplace/submission/{submission}/message/#conversation", count=ReviewMessage.objects.count),
]  # fmt: skip
# What is typed here confirms, chooses or tries something.
ACTS = [
    Row("/merchant/orders/", {"order": ["{order}"]}, "/merchant/orders/move/", press={"status": "CONFIRMED"}),
    Row("/merchant/customers/", {"q": "nobody@example.com"}),
    Row("/merchant/staff/", {"email": "kim@example.com", "role": "MANAGER"}),
    Row("/merchant/apps/{installation}/uninstall/", {"reason": "Too slow"}),
    Row("/portal/apps/{slug}/delete/", {"slug": "{slug}"}),
    Row("/portal/apps/{slug}/credentials/regenerate/", {"slug": "{slug}"}),
    Row("/portal/device/?user_code={code}", {"user_code": "{code}"}, "/portal/device/"),
    Row("/portal/apps/{slug}/deliveries/", {"delivery": ["{delivery}"]}, "/portal/apps/{slug}/deliveries/resend/"),
    Row("/portal/apps/{slug}/hooks/order.validate/try/", {"request_data": '{"a": 1}'}),
    Row("/portal/apps/{slug}/members/", {"email": "kim@example.com", "role": "VIEWER"}),
    Row("/portal/apps/{slug}/transfer/", {"email": "sam@example.com"}),
    Row("/portal/apps/{slug}/deliveries/recover/", {"since": "2026-11-01T10:00"}),
    Row("/portal/apps/{slug}/scopes/", {"scope": ["read_orders"]}),
    Row("/portal/apps/{slug}/review/submit/", {"how_to_test": "Order a cake."}),
    Row("/admin/marketplace/app/{app}/suspend/", {"reason": "Spam."}),
    Row("/admin/marketplace/submission/{submission}/approve/", {"notes": "Well done."}),
    Row("/admin/marketplace/submission/{submission}/reject/", {"notes": "Not yet."}),
]  # fmt: skip
IN_A_STORE = [row for row in EDITS + NEW if row.page.startswith("/merchant/")]
OF_PEOPLE = ("/merchant/notices/", "/merchant/businesses/add/")  # the person's, whatever store is shown


def each(rows: list[Row]) -> Any:
    return pytest.mark.parametrize("row", rows, ids=lambda row: row.action or row.page)


@pytest.mark.long
def test_every_form_has_a_row() -> None:
    """Those to register by a link have none: a password is kept nowhere."""
    typed = {
        row.name
        for row in ROWS
        if row.writes and row.name.startswith(AREAS) and not {PRESS, UNKEPT, BY_A_LINK} & set(row.marks)
    }
    rows = {name_at(row.action or row.page) for row in EDITS + NEW + ACTS}
    assert typed == rows, "Add a row to tests/wire/test_forms.py, or PRESS to that of tests/pages_table.py."


@dataclass
class World:
    """Mira with two stores, Dana with an app in one of them and one in review, and Rita who reviews."""

    people: dict[str, User]
    values: dict[str, str]

    def person(self, row: Row) -> User:
        return self.people[row.page.split("/")[1]]

    def browser(self, row: Row, **options: Any) -> Client:
        browser = Client(headers=HTML, **options)
        browser.force_login(self.person(row))
        return browser

    def at(self, text: str) -> str:
        return re.sub(r"\{(\w+)\}", lambda found: self.values[found[1]], text)

    def typed(self, typed: Typed) -> Typed:
        return {
            self.at(name): [self.at(each) for each in value]
            if isinstance(value, list)
            else value and self.at(value)
            for name, value in typed.items()
        }

    def form(self, browser: Client, row: Row) -> Form:
        return form_at(browser, self.at(row.page), self.at(row.action), having=row.having)

    def send(self, browser: Client, form: Form, row: Row, typed: Typed | None) -> Any:
        answer = send(browser, form, **row.press | self.typed(typed or {}))
        if answer.status_code == 302:
            assert "/login/" not in answer["Location"]
        return answer

    def has(self, form: Form, typed: Typed) -> bool:
        """Whether the form shows what was typed. A browser's text field has other line breaks than what was kept."""
        fields = {
            name: [each.replace("\r\n", "\n") for each in values] for name, values in filled(form).items()
        }
        wanted = {
            name: value if isinstance(value, list) else [] if value is None else [value]
            for name, value in self.typed(typed).items()
        }
        return all(sorted(fields.get(name, [])) == sorted(values) for name, values in wanted.items())


@pytest.fixture
def world(dana: User, sam: User, mira: User, shop: Business, sandbox: Business, monkeypatch: Any) -> World:
    monkeypatch.setattr("developers.portal.webhooks.endpoints._ping", lambda request, webhook: None)
    rita = create_reviewer(email="rita@example.com", name="Rita")
    rita.set_password(factories.PASSWORD)
    rita.save()
    app = factories.app(dana, name="Stars")
    give_settings(app)
    schema = Manifest.objects.get(app=app).document["settingsSchema"]
    config = {"counter": {"greeting": "Hi"}}
    script = define(app, ExtensionType.EMBED, "chat", settingsSchema=schema, defaultConfig=config)
    block = define(app, ExtensionType.BLOCK, "wall", settingsSchema=schema, defaultConfig=config)
    for point in ("order.validate", "order.calculate_discounts"):
        factories.hook(app, point)
    factories.approve(app)
    installation = installed(app, shop)
    installation.settings = config
    installation.save()
    own = factories.app(dana, name="Tills", webhook_url="https://a.example.com/in")
    shots = [store(own, Decoded(picture(), "PNG", 32, 32), now=timezone.now()) for _ in range(2)]
    own.screenshot_ids = [str(each.pk) for each in shots]
    own.save()
    factories.hook(own, "order.validate")
    Membership.objects.create(app=own, user=sam, role=AppRole.DEVELOPER)
    tested = factories.installation(own, sandbox)
    with override_settings(BASE_URL="https://testserver"):
        inbox = inboxes.open_inbox(installation=tested)
    Webhook.objects.update(url=inboxes.url_of(inbox))
    webhook = helpers.webhook(tested, "https://a.example.com/in", ["order.created"])
    sent = factories.app(dana, name="Bells")
    submission = reviews.submit(app=sent, developer=dana)
    page = create_page(business=shop, title="About")
    placed = add_block(page=page, installation=installation, definition=block)
    factories.business(mira, name="Second")
    values = {
        "product": factories.product(shop, name="Bread", stock=5).pk, "installation": installation.pk, "page": page.pk,
        "block": placed.pk, "script": script.pk, "slug": own.slug, "app": app.pk, "sent": sent.slug,
        "submission": submission.pk, "webhook": webhook.pk, "first": shots[0].pk, "second": shots[1].pk,
        "code": developer_tokens.start_grant(client_name="Laptop", network="").user_code,
        "order": factories.order(shop).pk, "paid": factories.order(shop, status="DELIVERED").pk,
        "delivery": delivery(webhook, DeliveryStatus.EXHAUSTED, REFUSED).pk,
    }  # fmt: skip
    people = {"merchant": mira, "portal": dana, "admin": rita}
    return World(people, {name: str(value) for name, value in values.items()})


def sign_in(browser: Client, person: User, answer: Any) -> Any:
    """Where a person arrives who signs in on the page that they were led to."""
    assert answer.status_code == 302
    page = browser.get(answer["Location"], headers=HTML)
    assert "You were signed out, so nothing was saved." in page.text
    led_to = parse_qs(urlsplit(answer["Location"]).query)["next"][0]
    credentials = {"email": person.email, "password": factories.PASSWORD, "next": led_to}
    return browser.post("/accounts/login/", credentials, follow=True, headers=HTML)


def page_of(answer: Any) -> str:
    """The address of the page that was reached at last."""
    return str(answer.redirect_chain[-1][0])


def state() -> list[Any]:
    """What the forms in `ACTS` would change."""
    rows = (
        App.objects.values_list("pk", "status", "suspended_at", "deleted_at", "client_secret", "scopes"),
        Submission.objects.values_list("pk", "status"),
        Delivery.objects.values_list("pk", "status"),
    )
    return [sorted(map(str, each)) for each in rows]


# Two windows


@pytest.mark.long
@pytest.mark.spec(RULE, "A form saves what the person changed and nothing else")
@each([row for row in EDITS if row.other])
def test_another_field_that_was_changed_meanwhile_stays(world: World, row: Row) -> None:
    browser = world.browser(row)
    old, other = world.form(browser, row), world.form(browser, row)
    assert world.send(browser, other, row, row.other).status_code == 302
    assert world.send(browser, old, row, row.mine).status_code == 302
    now = world.form(browser, row)
    assert world.has(now, row.mine)
    assert world.has(now, row.other or {})


@pytest.mark.long
@pytest.mark.spec(RULE, "Where the same field was changed meanwhile, the page shows both (409)")
@each([row for row in EDITS if row.theirs])
def test_the_same_field_changed_meanwhile_shows_both_and_is_saved_once_that_is_known(
    world: World, row: Row
) -> None:
    browser, theirs = world.browser(row), row.theirs or {}
    old, other = world.form(browser, row), world.form(browser, row)
    assert world.send(browser, other, row, theirs).status_code == 302
    refused = world.send(browser, old, row, row.mine)
    assert refused.status_code == 409
    assert world.has(world.form(browser, row), theirs)  # nothing was saved
    again = form_on(refused, old.action, world.at(row.action), having=row.having)
    assert world.has(again, row.mine)
    for value in (
        each for values in theirs.values() for each in (values if isinstance(values, list) else [values])
    ):
        assert words_of(value) in " ".join(refused.text.split()), value
    assert world.send(browser, again, row, {}).status_code == 302
    assert world.has(world.form(browser, row), row.mine)


def words_of(value: str) -> str:
    """What a page says for a value: a label, or the part of a manifest that differs."""
    labels = {
        "failing_apps": "An app keeps failing in your store", "SLOW": str(InboxAnswer.SLOW.label),
        "read_products": SCOPES["read_products"].sentence, manifest(3000): "3000",
    }  # fmt: skip
    return labels.get(value, value)


@pytest.mark.long
@each(EDITS)
def test_edit_that_is_sent_twice_is_saved_once(world: World, row: Row) -> None:
    browser = world.browser(row)
    form = world.form(browser, row)
    for _ in range(2):
        assert world.send(browser, form, row, row.mine).status_code == 302
    assert world.has(world.form(browser, row), row.mine)


@pytest.mark.long
@each(NEW)
def test_what_is_new_is_made_once_however_often_it_is_sent(world: World, row: Row) -> None:
    assert row.count
    browser, before = world.browser(row), row.count()
    form = world.form(browser, row)
    assert world.send(browser, form, row, row.mine).status_code in (200, 302)
    assert world.send(browser, form, row, row.mine).status_code in (302, 409)
    assert row.count() == before + 1


@pytest.mark.long
@each(NEW)
def test_what_is_new_is_made_when_it_is_sent_again_after_an_outage(world: World, row: Row) -> None:
    """The press that met the outage doesn't count as one."""
    assert row.count
    browser, before = world.browser(row), row.count()
    form = world.form(browser, row)
    table = row.count.__self__.model._meta.db_table  # type: ignore[attr-defined]

    def lost(execute: Any, sql: str, *rest: Any) -> Any:
        if sql.startswith(f'INSERT INTO "{table}"'):
            raise OperationalError("server closed the connection unexpectedly")
        return execute(sql, *rest)

    with connection.execute_wrapper(lost):
        assert world.send(browser, form, row, row.mine).status_code == 503
    assert row.count() == before
    assert world.send(browser, form, row, row.mine).status_code in (200, 302)
    assert row.count() == before + 1


@pytest.mark.long
def test_second_press_waits_for_the_first(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as it may take; then it says that it doesn't know."""
    monkeypatch.setattr(pages, "PATIENCE", 0.3)
    row = next(each for each in NEW if each.page == "/merchant/products/add/")
    browser = world.browser(row)
    form = world.form(browser, row)
    answers: list[Any] = []

    def second(*args: Any, **options: Any) -> Any:
        answers.append(world.send(browser, form, row, row.mine))
        return create_product(*args, **options)

    create_product = products.create_product
    monkeypatch.setattr(products, "create_product", second)
    assert world.send(browser, form, row, row.mine).status_code == 302
    assert [answer.status_code for answer in answers] == [409]
    assert pages.STILL_SAVING in unescape(answers[0].content.decode())


@pytest.mark.long
@pytest.mark.parametrize("page", ["/merchant/pages/{page}/edit/", "/merchant/apps/{installation}/settings/"])
def test_button_that_adds_a_block_adds_one_however_often_it_is_pressed(world: World, page: str) -> None:
    browser = world.browser(EDITS[0])
    action = page.replace("edit/", "blocks/").replace("settings/", "blocks/")
    form = form_at(browser, world.at(page), world.at(action), having="choice")
    before = Placement.objects.count()
    for _ in range(2):
        answer = send(browser, form)
        assert answer.status_code == 302
    assert "This form had been sent before" in browser.get(answer["Location"]).text
    assert Placement.objects.count() == before + 1
    again = form_at(browser, world.at(page), world.at(action), having="choice")
    assert send(browser, again).status_code == 302
    assert Placement.objects.count() == before + 2


# Another store


@pytest.mark.long
@pytest.mark.spec(RULE, "Every form carries its store and saves there")
@each(IN_A_STORE)
def test_form_is_saved_in_the_store_of_its_page_whatever_another_tab_shows(world: World, row: Row) -> None:
    browser = world.browser(row)
    form, second = world.form(browser, row), Business.objects.get(name="Second")
    before = of_store(second)
    switch_to(browser, second)
    answer = world.send(browser, form, row, row.mine)
    assert answer.status_code == 302
    assert of_store(second) == before
    if row in EDITS and row.page not in OF_PEOPLE:
        switch_to(browser, Business.objects.exclude(pk=second.pk).get(owner=second.owner))
        assert world.has(world.form(browser, row), row.mine)


@pytest.mark.long
@pytest.mark.parametrize("path", ["orders/", "products/", "reviews/"])
def test_filters_keep_the_store_that_the_address_names(world: World, path: str) -> None:
    browser, second = world.browser(EDITS[0]), Business.objects.get(name="Second")
    for named in ([second.slug], []):
        answer = browser.get(f"/merchant/{path}", {"q": "x", "store": named})
        page = Page(path, answer.status_code, answer.text)
        fields = next(
            form.fields for form in page.forms if form.method == "get" and ("q", "x") in form.fields
        )
        assert [value for name, value in fields if name == "store"] == named
        query = f"?store={named[0]}" if named else ""
        assert f'href="/merchant/{path}{query}">Clear' in answer.text


def switch_to(browser: Client, business: Business) -> None:
    switch = form_at(browser, "/merchant/", "/merchant/businesses/switch/")
    assert send(browser, switch, business=business.pk).status_code == 302


def of_store(business: Business) -> list[Any]:
    business = Business.objects.get(pk=business.pk)
    rows = (model.objects.filter(business=business).count() for model in (Product, SitePage, Installation))
    return [business.name, business.address, *rows]


# Sessions


@pytest.mark.long
@pytest.mark.spec(
    RULE, "A form that was sent after its session ended is shown again, filled, after signing in"
)
@each(EDITS + NEW + ACTS)
def test_form_that_was_sent_after_the_session_ended_is_shown_again_filled(world: World, row: Row) -> None:
    browser, before = world.browser(row), state()
    form = world.form(browser, row)
    Session.objects.all().delete()
    arrived = sign_in(browser, world.person(row), send(browser, form, **row.press | world.typed(row.mine)))
    assert arrived.status_code == 200
    assert "Your session was renewed, and nothing is saved yet." in arrived.text
    filled_again = form_on(arrived, page_of(arrived), world.at(row.action), having=row.having)
    assert world.has(filled_again, row.mine)
    assert state() == before
    if row in EDITS:
        assert not world.has(world.form(world.browser(row), row), row.mine)
        assert world.send(browser, filled_again, row, {}).status_code == 302
        assert world.has(world.form(browser, row), row.mine)
    elif row.count:
        before_press = row.count()
        assert world.send(browser, filled_again, row, {}).status_code in (200, 302)
        assert row.count() == before_press + 1


@pytest.mark.long
@pytest.mark.spec(RULE, "A form with an outdated token is shown again, filled")
@each(EDITS + NEW + ACTS)
def test_form_with_an_outdated_token_is_shown_again_filled(world: World, row: Row) -> None:
    browser = world.browser(row, enforce_csrf_checks=True)
    form, before = world.form(browser, row), state()
    browser.cookies[django_settings.CSRF_COOKIE_NAME] = "y" * 32
    answer = send(browser, form, follow=True, **row.press | world.typed(row.mine))
    assert "Your session was renewed, and nothing is saved yet." in answer.text
    filled_again = form_on(answer, page_of(answer), world.at(row.action), having=row.having)
    assert world.has(filled_again, row.mine)
    assert state() == before
    if row in EDITS:
        assert world.send(browser, filled_again, row, {}).status_code == 302
        assert world.has(world.form(browser, row), row.mine)
