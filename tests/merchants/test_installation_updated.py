"""`installation.updated`: what a merchant changes of an app, which this app learns in this store, and no other app or store."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest
from django.db.models import Count
from django.test import Client
from django.utils import timezone

from accounts.models import Business, User
from activity.log import flush
from extensions.enums import ExtensionType
from installations.models import Installation
from installations.services.approval import follow_all
from marketplace.models import App
from marketplace.services.apps import update_app
from tests import factories
from tests.clients import api_of, client_of
from tests.developers.api.releases.rolling import approve
from tests.extensions.cast import define
from tests.extensions.settings import give_settings
from tests.forms import form_on, send
from tests.installations import oauth_client
from tests.merchants.pages import ask_for_more, installed, listed_app, page_of
from tests.pages import signed_in
from tests.receivers import Receiver
from tests.webhooks import helpers
from tests.webhooks.helpers import drain, is_signed
from webhooks.models import Delivery, Event

pytestmark = pytest.mark.django_db(transaction=True)

ORDERS = "Contract 23 What an order tells"
SCHEMA = {
    "type": "object",
    "properties": {
        "color": {"type": "string", "enum": ["red", "blue"], "default": "red"},
        "stamps": {"type": "integer", "default": 10},
    },
}
SWITCHED_ON = {"hooks": {"order.calculate_discounts": True, "order.validate": True}, "embeds": {"chat": True}}
AT_FIRST = {
    "settings": {"color": "red", "stamps": 10}, "scopes": ["read_products", "read_orders"], "switches": SWITCHED_ON,
    "maxDiscountPercent": 100, "paused": False,
}  # fmt: skip


@pytest.fixture
def ear(settings: Any) -> Any:
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True
    with Receiver() as running:
        yield running


@pytest.fixture
def stars(dana: User) -> App:
    app = give_settings(listed_app(dana, ["read_products", "read_orders"], name="Loyalty Stars"), SCHEMA)
    for point in ("order.calculate_discounts", "order.validate"):
        define(app, ExtensionType.HOOK, point)
    define(app, ExtensionType.EMBED, "chat")
    return app


@pytest.fixture
def installation(stars: App, shop: Business, ear: Receiver) -> Installation:
    return listening(stars, shop, ear)


def listening(app: App, business: Business, ear: Receiver) -> Installation:
    """With a webhook that lists everything, at an address of its own."""
    made = installed(app, business)
    helpers.webhook(made, f"{ear.url}{app.slug}/{business.slug}", [])
    return made


def press(browser: Client, installation: Installation, ending: str, **form: Any) -> None:
    response = browser.post(page_of(installation, ending), form)
    assert response.status_code == 302, response.content


def came(ear: Receiver) -> list[tuple[str, Any]]:
    """Path and data of each `installation.updated` since the last time."""
    drain()
    found = [
        (each.target, orjson.loads(each.body)["data"])
        for each in ear.requests
        if each.headers["x-webhook-event"] == "installation.updated"
    ]
    ear.requests.clear()
    return found


def feed(installation: Installation) -> list[Any]:
    helpers.wait_for_feed()
    return client_of(installation).get("/app-api/events").json()["data"]  # type: ignore[no-any-return]


def save_settings(browser: Client, installation: Installation) -> None:
    press(browser, installation, "settings/", color="blue", stamps="12")


def switch_two_and_lower_the_cap(browser: Client, installation: Installation) -> None:
    """One form: the widget and a hook go off, the cap becomes 25."""
    page = browser.get(page_of(installation))
    form = page.context["form"]
    labels = {field.label: field.name for field in form.visible_fields()}
    sent = form_on(page, page_of(installation))
    off = {labels["Chat"]: None, labels["Can refuse orders"]: None}
    assert send(browser, sent, **off, most_discount="25").status_code == 302


def agree_to_more(browser: Client, installation: Installation) -> None:
    ask_for_more(installation, ["read_products", "read_orders", "read_reviews"])
    Installation.objects.filter(pk=installation.pk).update(
        runs=App.objects.get(pk=installation.app_id).approved_version
    )
    press(browser, installation, "permissions/", answer="approve", version="2")


def agree_to_less(browser: Client, installation: Installation) -> None:
    app, business = installation.app, installation.business
    response = oauth_client.answer(business.owner, app, business=business, scope="read_products")
    assert response.status_code == 302


def pause(browser: Client, installation: Installation) -> None:
    press(browser, installation, "pause/")


OFF = {"hooks": {"order.calculate_discounts": True, "order.validate": False}, "embeds": {"chat": False}}
ACTS: dict[Callable[[Client, Installation], None], dict[str, Any]] = {
    save_settings: {"changed": ["settings"], "settings": {"color": "blue", "stamps": 12}},
    switch_two_and_lower_the_cap: {"changed": ["switches"], "switches": OFF, "maxDiscountPercent": 25},
    agree_to_more: {"changed": ["scopes"], "scopes": ["read_products", "read_orders", "read_reviews"]},
    agree_to_less: {"changed": ["scopes"], "scopes": ["read_products"]},
    pause: {"changed": ["paused"], "paused": True},
}


@pytest.mark.spec(
    ORDERS, "installation.updated: one for a save that changes something, by the merchant's acts"
)
@pytest.mark.spec(ORDERS, "installation.updated is in no other's feed, log or file")
@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.__name__)
def test_only_this_installation_learns_what_its_merchant_changed(
    act: Callable[[Client, Installation], None],
    browser: Client, installation: Installation, stars: App, shop: Business, dana: User, sam: User, ear: Receiver,
) -> None:  # fmt: skip
    """Two apps of two developers in two stores: none of the three others sees a trace, whatever its developer may read."""
    theirs = factories.business(factories.merchant("tom@example.com"))
    other = listed_app(sam, ["read_products", "read_orders"])
    same_app = listening(stars, theirs, ear)
    others = [same_app, listening(other, shop, ear), listening(other, theirs, ear)]
    act(browser, installation)
    ((path, data),) = came(ear)
    assert path == f"/{stars.slug}/{shop.slug}"
    assert data == {"installationId": str(installation.pk), **AT_FIRST, **ACTS[act]}
    assert list(data) == ["installationId", "changed", *AT_FIRST]
    api = client_of(installation)
    if act is not pause:  # its token is refused until it is resumed
        (event,) = feed(installation)
        assert (event["event"], event["data"]) == ("installation.updated", data)
        known = api.get("/app-api/installation").json()
        assert (known["settings"], known["scopes"]) == (data["settings"], data["scopes"])
    for each in others:
        assert feed(each) == []
        (webhook,) = client_of(each).get("/webhooks").json()["data"]
        assert client_of(each).get(f"/webhooks/{webhook['id']}/deliveries").json()["data"] == []
        assert str(installation.pk) not in client_of(each).get("/app-api/events").content.decode()
    flush()
    for developer, app, number in ((dana, stars, 1), (sam, other, 0)):
        ask = api_of(developer)
        assert ask("get", f"/developer/apps/{app.pk}/deliveries").json()["total"] == number
        entries = ask("get", f"/developer/apps/{app.pk}/activity?kind=webhook").json()["data"]
        assert [each["name"] for each in entries] == ["installation.updated"] * number
    thread = f"threads/{Event.objects.get().pk}/"
    for developer, app, is_seen in ((dana, stars, True), (sam, other, False)):
        page = signed_in(developer).get(f"/portal/apps/{app.slug}/{thread}").content.decode()
        assert ("installation.updated" in page) is is_seen


@pytest.mark.spec(ORDERS, "installation.updated: one for a save that changes something")
def test_what_changes_nothing_publishes_nothing(
    browser: Client, installation: Installation, ear: Receiver
) -> None:
    save_settings(browser, installation)
    pause(browser, installation)
    assert [data["changed"] for _, data in came(ear)] == [["settings"], ["paused"]]
    save_settings(browser, installation)
    pause(browser, installation)
    page = browser.get(page_of(installation))
    send(browser, form_on(page, page_of(installation)))
    assert browser.post(page_of(installation, "settings/"), {"color": "green"}).status_code == 422
    assert came(ear) == []
    press(browser, installation, "resume/")
    assert [(data["changed"], data["paused"]) for _, data in came(ear)] == [(["paused"], False)]


@pytest.mark.spec(ORDERS, "installation.updated goes out although the app is paused")
def test_it_goes_out_although_the_app_is_paused(
    browser: Client, installation: Installation, shop: Business, ear: Receiver
) -> None:
    """One that waits for its retry, too. All else is held."""
    ear.respond_with(503, 200)
    save_settings(browser, installation)
    drain()
    helpers.publish(shop)
    pause(browser, installation)
    helpers.publish(shop)
    switch_two_and_lower_the_cap(browser, installation)
    assert dict(Delivery.objects.values_list("event_type").annotate(Count("pk"))) == {
        "installation.updated": 3,
        "order.created": 2,
    }
    Delivery.objects.filter(status="RETRYING").update(due_at=timezone.now())
    assert sorted(data["changed"] for _, data in came(ear)) == [["paused"], *[["settings"]] * 2, ["switches"]]
    states = set(Delivery.objects.values_list("event_type", "status", "held_reason"))
    assert {each[:2] for each in states} == {("installation.updated", "SUCCEEDED"), ("order.created", "HELD")}
    sent = Delivery.objects.filter(event_type="installation.updated").latest("id")
    resend = f"/developer/apps/{installation.app_id}/deliveries/{sent.pk}/redeliver"
    assert api_of(installation.app.developer)("post", resend).status_code == 202
    assert [data["changed"] for _, data in came(ear)] == [["switches"]]
    press(browser, installation, "resume/")
    assert [data["changed"] for _, data in came(ear)].count(["paused"]) == 1


@pytest.mark.spec(ORDERS, "installation.updated: by the merchant's acts alone")
def test_what_others_do_publishes_nothing(
    installation: Installation, stars: App, dana: User, ear: Receiver
) -> None:
    """A version that loses a scope, another manifest and another Webhook URL are the developer's."""
    api = api_of(dana)
    document = {
        "settingsSchema": {"type": "object", "properties": {"size": {"type": "integer", "default": 1}}}
    }
    assert api("put", f"/developer/apps/{stars.pk}/manifest", document).status_code == 200
    assert client_of(installation).get("/app-api/installation").json()["settings"] == {"size": 1}
    update_app(app=stars, changes={"scopes": ["read_products"]})
    approve(stars, "ALL")
    follow_all()
    assert client_of(installation).get("/app-api/installation").json()["scopes"] == ["read_products"]
    assert came(ear) == []


@pytest.mark.spec(ORDERS, "installation.updated needs no scope, and filters know its settings")
def test_filter_by_a_setting(browser: Client, installation: Installation, ear: Receiver) -> None:
    body = {
        "url": f"{ear.url}filtered", "events": ["installation.updated"],
        "filter": {"all": [{"field": "settings.color", "op": "eq", "value": "blue"}, {"field": "changed[]", "op": "eq", "value": "settings"}]},
    }  # fmt: skip
    made = client_of(installation).post("/webhooks", body, content_type="application/json")
    assert (made.status_code, made.json()["eventsWithoutScope"]) == (201, [])
    pause(browser, installation)
    press(browser, installation, "resume/")
    save_settings(browser, installation)
    drain()
    (request,) = [each for each in ear.requests if each.target == "/filtered"]
    assert is_signed(request, made.json()["secret"])
