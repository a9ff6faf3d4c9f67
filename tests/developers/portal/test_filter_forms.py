"""The rows of a filter in the portal, in a browser without JavaScript (contract, section 19)."""

from typing import Any

import orjson
import pytest
from django.test import Client

from developers.portal.webhooks.filter_field import as_typed, document_of
from installations.models import Installation
from marketplace.models import App
from tests.developers.portal.paths import at
from tests.pages import text_of, unescaped
from tests.webhooks import helpers
from webhooks.models import Webhook

RULE = "Contract 19 Filters"
URL = "https://api.example.com/in"
LARGE = {"all": [{"field": "amount", "op": "gte", "value": 100}]}


@pytest.fixture(autouse=True)
def _nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("developers.portal.webhooks.endpoints._ping", lambda request, webhook: None)


@pytest.fixture
def webhook(installation: Installation) -> Webhook:
    return helpers.webhook(installation, URL, ["order.created"], filter=orjson.dumps(LARGE).decode())


def rows(
    *given: tuple[str, str, str], name: str = "filter", mode: str = "all", changed: str = ""
) -> dict[str, str]:
    sent = {f"{name}-mode": mode, f"{name}-changed": changed}
    for number, row in enumerate(given):
        for part, text in zip(("field", "op", "value"), row, strict=True):
            sent[f"{name}-{part}-{number}"] = text
    return sent


def saved(browser: Client, app: App, sent: dict[str, Any]) -> Any:
    form = {"url": URL, "events": ["order.created", "product.updated"], "form_token": "a-token"}
    unescaped(browser.post(at(app, "new/"), form | sent))
    text = Webhook.objects.get().filter
    return text and orjson.loads(text)


@pytest.mark.spec(RULE, "The portal's rows make the same filter as the API")
@pytest.mark.parametrize(
    ("sent", "document"),
    [
        (rows(), None),
        (rows(("", "eq", ""), (" amount ", "gte", " 100 ")), LARGE),
        (rows(("amount", "lt", "12.50"), mode="any"), {"any": [{"field": "amount", "op": "lt", "value": 12.5}]}),
        (rows(("isGuest", "eq", "true")), {"all": [{"field": "isGuest", "op": "eq", "value": True}]}),
        (rows(("name", "eq", "100")), {"all": [{"field": "name", "op": "eq", "value": "100"}]}),
        (rows(("amount", "ne", '"100"')), {"all": [{"field": "amount", "op": "ne", "value": "100"}]}),
        (rows(("name", "eq", '""')), {"all": [{"field": "name", "op": "eq", "value": ""}]}),
        (rows(("stock", "in", "1, 2,3")), {"all": [{"field": "stock", "op": "in", "value": [1, 2, 3]}]}),
        (rows(("name", "in", '["a, b", 1]')), {"all": [{"field": "name", "op": "in", "value": ["a, b", 1]}]}),
        (rows(("stock", "exists", "")), {"all": [{"field": "stock", "op": "exists"}]}),
        (rows(("stock", "exists", "false")), {"all": [{"field": "stock", "op": "exists", "value": False}]}),
        (rows(changed="price, stock"), {"changed": ["price", "stock"]}),
        (rows(("price", "gt", "1"), changed="price"), {"all": [{"field": "price", "op": "gt", "value": 1}], "changed": ["price"]}),
    ],
    ids=str,
)  # fmt: skip
def test_rows_are_saved(
    browser: Client, app: App, installation: Installation, sent: dict[str, Any], document: Any
) -> None:
    assert saved(browser, app, sent) == document


@pytest.mark.parametrize(
    "value",
    [1, 1.0, "1", 'say "hi"', '"quoted"', " outer ", "", "true", True, ["a, b"], ["a", 1, True], [""], "[1]", "null", "é, ü"],
    ids=repr,
)  # fmt: skip
@pytest.mark.parametrize("field", ["amount", "name", "isGuest", "settings.x"])
def test_rows_show_a_filter_so_that_it_is_read_again(field: str, value: Any) -> None:
    op = "in" if isinstance(value, list) else "eq"
    document = {"any": [{"field": field, "op": op, "value": value}], "changed": ["price", "stock"]}
    again = document_of(as_typed(document))
    assert orjson.dumps(again) == orjson.dumps(document)


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (rows(("amounts", "eq", "1")), "Condition 1, field: amounts is no field of the data of order.created"),
        (rows(("amount", "gt", "1"), ("amount", "eq", "")), "Condition 2, value: Is required for eq."),
        (rows(("createdAt", "gt", "yesterday")), "Condition 1, value: Must be an RFC 3339 time"),
        (rows(("amount", "like", "1")), "Condition 1, op: Must be one of"),
        (rows(("amount", "in", ",".join(["1"] * 51))), "Condition 1, value: Must be a list of 1 to 50 values"),
        (rows(changed="prices"), "Changed fields: Must be the name of a field"),
    ],
    ids=str,
)  # fmt: skip
def test_row_that_is_wrong_is_named_and_kept(
    browser: Client, app: App, installation: Installation, sent: dict[str, Any], message: str
) -> None:
    form = {"url": URL, "events": ["order.created", "product.updated"], "form_token": "a-token"}
    page = unescaped(browser.post(at(app, "new/"), form | sent), 422)
    assert message in page
    for name, text in sent.items():
        assert "-op-" in name or f'value="{text}"' in page
    assert not Webhook.objects.exists()


def test_edited_endpoint_keeps_its_filter_unless_it_is_changed(
    browser: Client, app: App, webhook: Webhook
) -> None:
    path = at(app, f"{webhook.pk}/edit/")
    page = unescaped(browser.get(path))
    assert 'name="filter-field-0" id="id_filter_0" value="amount"' in page
    assert '<option value="gte" selected>' in page
    form = {"url": URL, "events": ["order.created"], "description": "Till"}
    browser.post(path, form | rows(("amount", "gte", "100")))
    webhook.refresh_from_db()
    assert (webhook.description, webhook.filter) == ("Till", orjson.dumps(LARGE).decode())
    browser.post(path, form | rows())
    webhook.refresh_from_db()
    assert webhook.filter is None
    assert "amount gte 100" not in text_of(browser.get(at(app)))


def test_list_of_endpoints_shows_the_filter(browser: Client, app: App, webhook: Webhook) -> None:
    assert "amount gte 100" in text_of(browser.get(at(app)))


@pytest.mark.spec(
    RULE, "The form shows how many of the last 100 events would have passed, and what stopped one"
)
def test_preview_tries_the_last_hundred_events_and_saves_nothing(
    browser: Client, app: App, webhook: Webhook, installation: Installation
) -> None:
    for number in range(101):
        publish(installation, amount=number)
    path = at(app, f"{webhook.pk}/edit/")
    page = text_of(browser.get(path))
    assert "1 of the last 100 events" in page  # of 100.0; the first one is too old
    form = {"url": URL, "events": ["order.created"], "preview": "1"}
    shown = text_of(browser.post(f"{path}", form | rows(("amount", "gt", "90"), ("amount", "lt", "95"))))
    assert "4 of the last 100 events" in shown
    assert "amount gt 90</span> stopped 90" in shown
    assert "amount lt 95</span> stopped 6" in shown
    webhook.refresh_from_db()
    assert webhook.filter == orjson.dumps(LARGE).decode()
    wrong = browser.post(path, form | rows(("amounts", "gt", "1")))
    assert "Correct the filter first" in unescaped(wrong, 422)
    # A new endpoint has a preview, too, and isn't added by it.
    assert "100 of the last 100" in text_of(
        browser.post(at(app, "new/"), form | rows(("amount", "gte", "0")))
    )
    assert Webhook.objects.count() == 1


def publish(installation: Installation, amount: int) -> None:
    from webhooks import catalogue
    from webhooks.services.publishing import publish as write

    data = catalogue.EVENTS["order.created"].example | {"amount": amount}
    write(business_id=installation.business_id, event_type="order.created", data=data)


@pytest.mark.spec(RULE, "The app's filter is set under Listing, applies at once and leaves the status")
def test_filter_of_the_app(browser: Client, app: App, installation: Installation) -> None:
    path = f"/portal/apps/{app.slug}/details/events/"
    helpers.publish(installation.business)
    helpers.publish(installation.business, "product.created")
    assert "2 of the last 2 events" in text_of(browser.get(path))
    sent = rows(("amount", "gte", "100"), name="webhook_filter")
    page = text_of(browser.post(path, sent | {"webhook_url": "", "preview": "1"}))
    assert "0 of the last 2 events" in page
    app.refresh_from_db()
    assert app.webhook_filter is None
    text_of(browser.post(path, sent | {"webhook_url": ""}, follow=True))
    app.refresh_from_db()
    assert orjson.loads(app.webhook_filter or "") == LARGE
    unknown = browser.post(path, sent | {"webhook_url": "", "webhook_events": ["product.created"]})
    assert "Condition 1, field: amount is no field of the data of product.created" in unescaped(unknown, 422)


def test_app_defined_endpoint_leads_to_the_apps_filter(
    browser: Client, app: App, installation: Installation
) -> None:
    App.objects.update(webhook_url=URL, webhook_filter=orjson.dumps(LARGE).decode())
    webhook = helpers.webhook(installation, URL, [], is_app_defined=True)
    page = unescaped(browser.get(at(app, f"{webhook.pk}/edit/")))
    assert ("amount gte 100" in page, "details/events/#id_webhook_filter" in page) == (True, True)
    assert "filter-field-0" not in page


@pytest.mark.spec(RULE, "A sample event that a filter stops says which condition")
def test_sent_test_event_names_the_condition(browser: Client, app: App, webhook: Webhook) -> None:
    Webhook.objects.update(filter='{"all":[{"field":"amount","op":"gte","value":1000000}]}')
    page = text_of(
        browser.post(f"/portal/apps/{app.slug}/test/event/", {"event": "order.created"}, follow=True)
    )
    assert "its filter asks for amount gte 1000000" in page
