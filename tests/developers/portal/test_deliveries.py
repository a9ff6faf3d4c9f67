"""The portal's pages about deliveries, in a browser without JavaScript."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.models import Business, User
from developers.portal.deliveries import log as delivery_log
from installations.models import Installation
from marketplace.models import App
from tests import factories
from tests.deliveries import OK, REFUSED, TIMEOUT, TLS, UNAUTHORIZED, UNAVAILABLE, delivery, one_of_each
from tests.forms import form_at, send
from tests.pages import main_words_of, text_of, words_of
from tests.state import unchanged
from tests.webhooks import helpers
from webhooks.enums import DeliveryStatus
from webhooks.messages.message import compose
from webhooks.models import Delivery, Event, Webhook

NOW = datetime(2026, 11, 20, 15, 31, 8, tzinfo=UTC)
GONE = "00000000-0000-7000-8000-000000000000"


@pytest.fixture
def webhook(installation: Installation) -> Webhook:
    return helpers.webhook(installation, "https://api.example.com/in", ["order.created"])


@pytest.fixture
def of_sam(sam: User) -> Delivery:
    """A delivery of Sam's app, which has its own secret and store."""
    app = factories.app(sam)
    installed = factories.installation(app, Business.objects.sandbox_of(sam))
    return delivery(helpers.webhook(installed, "https://sam.example.com/", ["order.created"]))


def at(app: App, path: str = "") -> str:
    return f"/portal/apps/{app.slug}/deliveries/{path}"


def listed(response: Any) -> list[str]:
    """The ids of the rows, top to bottom."""
    return re.findall(r'name="delivery" value="([^"]+)"', text_of(response))


def ids(*deliveries: Delivery) -> list[str]:
    return [str(each.pk) for each in deliveries]


# --- Access -------------------------------------------------------------------------------


@pytest.mark.long
def test_delivery_of_another_app_does_not_exist_here(browser: Client, app: App, of_sam: Delivery) -> None:
    with unchanged(Delivery):
        for wanted in (of_sam.pk, GONE, "no-id"):
            assert browser.get(at(app, f"{wanted}/")).status_code == 404
            assert browser.post(at(app, f"{wanted}/resend/")).status_code == 404
        browser.post(at(app, "resend/"), {"delivery": of_sam.pk})


@pytest.mark.long
def test_filters_by_anothers_webhook_find_nothing(
    browser: Client, app: App, webhook: Webhook, of_sam: Delivery
) -> None:
    delivery(webhook)
    for query in (
        f"webhook={of_sam.webhook_id}",
        f"installation={of_sam.webhook.installation_id}",
        f"q={of_sam.pk}",
        f"q={of_sam.event_id}",
    ):
        response = browser.get(at(app, f"?{query}"))
        assert listed(response) == []
        assert "sam.example.com" not in text_of(response)


# --- The list ---------------------------------------------------------------------------------------


@pytest.mark.long
def test_list_without_deliveries_shows_the_next_step(browser: Client, app: App, sandbox: Business) -> None:
    page = text_of(browser.get(at(app)))
    assert "Nothing sent yet" in page
    assert "Install on sandbox" in page
    installed = factories.installation(app, sandbox)
    assert "Register a webhook" in text_of(browser.get(at(app)))
    helpers.webhook(installed, "https://api.example.com/", ["order.created"])
    page = text_of(browser.get(at(app)))
    assert "Send test event" in page
    assert page.count("button primary") == 1


def test_list_shows_the_status_of_each_delivery(
    browser: Client, app: App, installation: Installation
) -> None:
    one_of_each(installation)
    page = text_of(browser.get(at(app)))
    for text in (
        "Delivered", "Retrying", "Failed", "Pending", "Held", "Not sent", "3 of 6", "1 of 1", "401", "TLS",
        "Timeout", "10,003 ms", "product.low_stock", "api.example.com", "Test install on", "kept for 30 days",
    ):  # fmt: skip
        assert text in page


@pytest.mark.long
def test_list_is_cut_into_pages_that_do_not_shift(browser: Client, app: App, webhook: Webhook) -> None:
    now = timezone.now()
    made = [delivery(webhook, created_at=now - timedelta(minutes=n)) for n in range(65)]
    first = browser.get(at(app))
    assert listed(first) == ids(*made[:25])
    assert 'rel="prev"' not in text_of(first)
    older = re.search(r'href="([^"]+)" rel="next"', text_of(first))
    assert older
    delivery(webhook, created_at=now + timedelta(seconds=1))
    second = browser.get(at(app) + older[1])
    assert listed(second) == ids(*made[25:50])
    third = browser.get(at(app, f"?before={made[49].pk}"))
    assert listed(third) == ids(*made[50:])
    assert 'rel="next"' not in text_of(third)
    back = browser.get(at(app, f"?after={made[50].pk}"))
    assert listed(back) == ids(*made[25:50])
    assert "No more deliveries" in text_of(browser.get(at(app, f"?before={made[-1].pk}")))


@pytest.mark.long
def test_list_spans_installations_and_leaves_out_other_apps(
    browser: Client, app: App, webhook: Webhook, shop: Business, of_sam: Delivery
) -> None:
    second = helpers.webhook(factories.installation(app, shop), "https://two.example.com/", ["order.created"])
    made = [delivery(each, created_at=timezone.now()) for each in (webhook, second, webhook)]
    assert sorted(listed(browser.get(at(app)))) == sorted(ids(*made))
    assert listed(browser.get(at(app, f"?webhook={second.pk}"))) == ids(made[1])
    assert listed(browser.get(at(app, f"?installation={second.installation_id}"))) == ids(made[1])


@pytest.mark.long
def test_list_reads_any_number_of_rows_in_as_many_statements(
    browser: Client, app: App, webhook: Webhook, shop: Business, django_assert_max_num_queries: Any
) -> None:
    helpers.webhook(factories.installation(app, shop), "https://two.example.com/", ["order.created"])
    delivery(webhook, DeliveryStatus.EXHAUSTED, *[REFUSED] * 6)
    browser.get(at(app))
    with django_assert_max_num_queries(18) as one:
        browser.get(at(app))
    for _ in range(60):
        delivery(webhook, DeliveryStatus.EXHAUSTED, *[REFUSED] * 6)
    with django_assert_max_num_queries(18) as many:
        browser.get(at(app))
    assert len(one) == len(many)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("status=EXHAUSTED", ["failed"]),
        ("status=RETRYING", ["tls", "failing"]),
        ("event=order.status_changed", ["recovered"]),
        ("event=order.status_changed&status=EXHAUSTED", []),
        ("range=1h", ["waiting", "tls", "delivered", "failing"]),
        ("range=24h&status=EXHAUSTED", ["failed"]),
        ("since=2026-11-20T13:00&until=2026-11-20T14:00", ["recovered", "held"]),
        ("until=2026-11-20T00:00", ["failed", "test"]),
    ],
)
def test_filters_find(
    browser: Client, app: App, installation: Installation, query: str, found: list[str]
) -> None:
    made = one_of_each(installation, NOW)
    with time_machine.travel(NOW, tick=False):
        # A session that began in the future, at the real time, would not be valid.
        browser.force_login(app.developer)
        assert listed(browser.get(at(app, f"?{query}"))) == ids(*(made[name] for name in found))


def test_text_is_looked_for_in_the_newest_deliveries(
    browser: Client, app: App, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = delivery(webhook, data={"orderNumber": "1042"}, created_at=timezone.now() - timedelta(hours=1))
    delivery(webhook, data={"orderNumber": "1043"})
    assert listed(browser.get(at(app, "?q=1042"))) == ids(wanted)
    monkeypatch.setattr("developers.portal.deliveries.log.SEARCHED", 1)
    page = text_of(browser.get(at(app, "?q=1042")))
    assert str(wanted.pk) not in page
    assert "At most the newest 1 deliveries are searched." in page
    earlier = (timezone.now() - timedelta(minutes=30)).isoformat()
    assert listed(browser.get(at(app), {"q": "1042", "until": earlier})) == ids(wanted)


@pytest.mark.parametrize(
    ("query", "is_of_all"),
    [
        ("?event=order.created", True),
        ("?status=SUCCEEDED", True),
        ("?event=order.created&webhook={webhook}", False),
    ],
)
def test_event_and_status_are_looked_for_in_the_newest_deliveries(
    browser: Client, app: App, webhook: Webhook, monkeypatch: pytest.MonkeyPatch, query: str, is_of_all: bool
) -> None:
    """The page says so. Those of one webhook are all looked at."""
    query = query.format(webhook=webhook.pk)
    wanted = delivery(
        webhook, status=DeliveryStatus.SUCCEEDED, created_at=timezone.now() - timedelta(hours=1)
    )
    delivery(webhook, event_type="product.updated", status=DeliveryStatus.EXHAUSTED)
    assert listed(browser.get(at(app, query))) == ids(wanted)
    monkeypatch.setattr("developers.portal.deliveries.log.LOOKED_THROUGH", 1)
    page = browser.get(at(app, query))
    assert listed(page) == ([] if is_of_all else ids(wanted))
    assert ("At most the newest 1 deliveries are searched." in text_of(page)) is is_of_all


def test_order_is_looked_for_among_all_deliveries_to_its_store(
    browser: Client, app: App, webhook: Webhook, mira: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = factories.order(webhook.installation.business)
    wanted = delivery(
        webhook, data={"orderId": str(order.pk)}, created_at=timezone.now() - timedelta(hours=1)
    )
    other = factories.installation(app, factories.business(mira))
    delivery(helpers.webhook(other, "https://api.example.com/", ["order.created"]), data={"orderId": GONE})
    monkeypatch.setattr("developers.portal.deliveries.log.SEARCHED", 1)
    assert listed(browser.get(at(app, f"?q={order.pk}"))) == ids(wanted)


@pytest.mark.long
def test_text_finds_ids_and_order_numbers(browser: Client, app: App, webhook: Webhook) -> None:
    order_id = "0197c1f0-8c11-7c3e-9f30-3f2f1f0c1d2e"
    wanted = delivery(webhook, data={"orderId": order_id, "orderNumber": "1042"})
    delivery(webhook, data={"orderId": GONE, "orderNumber": "10420", "note": "1042"})
    for text in (wanted.pk, wanted.event_id, order_id, order_id.upper(), "1042", " 1042 "):
        assert listed(browser.get(at(app), {"q": str(text)})) == ids(wanted)
    assert len(listed(browser.get(at(app), {"q": str(webhook.pk)}))) == 2
    assert len(listed(browser.get(at(app), {"q": str(webhook.installation_id)}))) == 2
    for text in ("%", '1042"', "'; --", "é"):
        response = browser.get(at(app), {"q": text})
        assert listed(response) == []
        assert "No delivery matches these filters" in text_of(response)


@pytest.mark.parametrize(
    "query", ["status=LOST", "event=order.lost", "webhook=x", "range=2h", "since=soon", "q=" + "x" * 81]
)
def test_invalid_filter_shows_an_error(browser: Client, app: App, webhook: Webhook, query: str) -> None:
    delivery(webhook)
    response = browser.get(at(app, f"?{query}"))
    assert response.status_code == 422
    assert "There is a problem" in text_of(response)
    assert listed(response) == []


@pytest.mark.parametrize("position", ["before=x", "after=", "before=1", "page=0"])
def test_invalid_position_shows_the_newest(
    browser: Client, app: App, webhook: Webhook, position: str
) -> None:
    made = delivery(webhook)
    assert listed(browser.get(at(app, f"?{position}"))) == ids(made)


@pytest.mark.long
def test_filters_are_part_of_every_url(browser: Client, app: App, webhook: Webhook) -> None:
    for _ in range(51):
        delivery(webhook, DeliveryStatus.EXHAUSTED, REFUSED)
    page = text_of(browser.get(at(app, "?status=EXHAUSTED&q=")))
    assert 'href="?status=EXHAUSTED&amp;before=' in page
    assert "resend/?status=EXHAUSTED" in page
    assert "&amp;status=EXHAUSTED" in page  # in the URL that counts new deliveries


def test_news_counts_newer_deliveries_that_match(
    browser: Client, app: App, webhook: Webhook, of_sam: Delivery
) -> None:
    first = delivery(webhook, created_at=timezone.now() - timedelta(minutes=1))
    delivery(webhook)
    delivery(webhook, DeliveryStatus.EXHAUSTED, REFUSED)
    response = browser.get(at(app, f"new/?after={first.pk}"))
    assert response.json() == {"count": 2}
    assert browser.get(at(app, f"new/?after={first.pk}&status=EXHAUSTED")).json() == {"count": 1}
    assert browser.get(at(app, "new/")).json() == {"count": 0}


def test_text_of_others_is_escaped(browser: Client, app: App, webhook: Webhook) -> None:
    Business.objects.update(name="<script>alert(1)</script>")
    Webhook.objects.update(url="https://x.example.com/<b>", description="<i>hi</i>")
    outcome = (500, "http_5xx", 3, "<img src=x onerror=alert(2)>")
    made = delivery(webhook, DeliveryStatus.EXHAUSTED, outcome, data={"name": "</script><u>"})
    for path in ("", f"{made.pk}/", "recover/"):
        page = text_of(browser.get(at(app, path)))
        for tag in ("<script>alert", "<b>", "<i>hi", "<img", "<u>"):
            assert tag not in page


# --- One delivery -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "outcomes", "headline"),
    [
        (DeliveryStatus.SUCCEEDED, [TIMEOUT, OK], "Delivered: your endpoint returned 200"),
        (DeliveryStatus.RETRYING, [UNAUTHORIZED], "Failing: your endpoint returned 401"),
        (DeliveryStatus.EXHAUSTED, [UNAVAILABLE] * 6, "Failed: your endpoint returned 503"),
        (DeliveryStatus.RETRYING, [TLS], "Failing: the TLS certificate was not accepted"),
        (DeliveryStatus.PENDING, [], "Waiting to be sent"),
        (DeliveryStatus.PENDING, [OK], "Waiting to be resent"),
        (DeliveryStatus.HELD, [REFUSED], "Held: the webhook is disabled"),
        (DeliveryStatus.CANCELLED, [], "Not sent: the webhook was turned off before it was sent"),
    ],
)
def test_headline_describes_the_status(
    browser: Client, app: App, webhook: Webhook, status: DeliveryStatus, outcomes: list[Any], headline: str
) -> None:
    made = delivery(webhook, status, *outcomes)
    response = browser.get(at(app, f"{made.pk}/"))
    assert f"<h1>{headline}</h1>" in text_of(response)


def test_page_shows_the_request_as_it_was_signed(browser: Client, app: App, webhook: Webhook) -> None:
    made = delivery(webhook, DeliveryStatus.RETRYING, UNAUTHORIZED, TIMEOUT)
    for attempt in made.attempts.all():
        page = text_of(browser.get(at(app, f"{made.pk}/?attempt={attempt.number}")))
        sent = compose(
            event=made.event, delivery_id=made.pk, webhook_id=webhook.pk, url=webhook.url, secret=webhook.secret,
            now=attempt.attempted_at,
        )  # fmt: skip
        plain = page.replace("&quot;", '"')
        assert sent.body.decode() in plain
        for name, value in sent.headers.items():
            assert f"{name}: {value}" in plain
        assert webhook.secret not in page


def test_page_shows_the_response_of_the_chosen_attempt(browser: Client, app: App, webhook: Webhook) -> None:
    made = delivery(webhook, DeliveryStatus.SUCCEEDED, UNAUTHORIZED, TIMEOUT, OK)
    newest = text_of(browser.get(at(app, f"{made.pk}/")))
    assert "200 in 38 ms" in newest
    assert "next attempt 30 s later" in newest
    assert "next attempt 2 min later" in newest
    assert "signature mismatch" not in newest
    first = text_of(browser.get(at(app, f"{made.pk}/?attempt=1")))
    assert "signature mismatch" in first
    assert "None: no response within 10 seconds. The attempt ended after 10,003 ms." in text_of(
        browser.get(at(app, f"{made.pk}/?attempt=2"))
    )
    assert "200 in 38 ms" in text_of(browser.get(at(app, f"{made.pk}/?attempt=99")))


def test_page_marks_a_truncated_response(browser: Client, app: App, webhook: Webhook) -> None:
    made = delivery(webhook, DeliveryStatus.EXHAUSTED, (500, "http_5xx", 9, "x" * 4096))
    assert "Truncated" in text_of(browser.get(at(app, f"{made.pk}/")))


def test_plan_follows_the_settings(browser: Client, app: App, webhook: Webhook, settings: Any) -> None:
    settings.WEBHOOK_RETRY_DELAYS = [45, 5400]
    made = delivery(webhook, DeliveryStatus.RETRYING, REFUSED)
    page = text_of(browser.get(at(app, f"{made.pk}/")))
    waits = re.findall(r'<li class="(\w+)"><span class="wait">([^<]+)', page)
    assert waits == [("bad", "0 s"), ("next", "45 s"), ("later", "1 h 30 min")]


def test_data_that_was_never_sent_is_hidden_after_an_uninstall(
    browser: Client, app: App, webhook: Webhook
) -> None:
    made = delivery(webhook, DeliveryStatus.CANCELLED, data={"orderNumber": "secret-of-the-store"})
    sent = delivery(webhook, DeliveryStatus.EXHAUSTED, REFUSED, data={"orderNumber": "sent-before"})
    assert "secret-of-the-store" in text_of(browser.get(at(app, f"{made.pk}/")))
    Installation.objects.update(uninstalled_at=timezone.now())
    page = text_of(browser.get(at(app, f"{made.pk}/")))
    assert "secret-of-the-store" not in page
    assert "Data hidden" in page
    assert "the app was uninstalled before it was sent" in page
    assert "sent-before" in text_of(browser.get(at(app, f"{sent.pk}/")))
    checker = text_of(browser.get(f"/portal/apps/{app.slug}/signatures/?delivery={made.pk}"))
    assert "secret-of-the-store" not in checker


@pytest.mark.long
def test_comparison_hides_what_the_page_hides(browser: Client, app: App, webhook: Webhook) -> None:
    """A second place that shows a delivery. It needs one beside it that worked, with which it is compared."""
    delivery(webhook, DeliveryStatus.SUCCEEDED, OK, data={"orderNumber": "sent-before"})
    made = delivery(webhook, DeliveryStatus.CANCELLED, data={"orderNumber": "secret-of-the-store"})
    page, compare = at(app, f"{made.pk}/"), at(app, f"{made.pk}/compare/")
    assert "secret-of-the-store" in text_of(browser.get(compare), 200)
    Installation.objects.update(uninstalled_at=timezone.now())
    assert browser.get(compare)["Location"] == page
    assert "secret-of-the-store" not in text_of(browser.get(compare, follow=True))
    assert "Compare with" not in text_of(browser.get(page))


def test_curl_is_signed_now_and_survives_a_shell(browser: Client, app: App, webhook: Webhook) -> None:
    made = delivery(webhook, data={"name": "it's $HOME"})
    page = text_of(browser.get(at(app, f"{made.pk}/"))).replace("&#x27;", "'").replace("&quot;", '"')
    assert "curl https://api.example.com/in" in page
    assert """it'"'"'s $HOME""" in page
    stamp = re.search(r"-H 'X-Webhook-Timestamp: (\d+)'", page)
    assert stamp
    assert abs(int(stamp[1]) - timezone.now().timestamp()) < 60


# --- Resending ----------------------------------------------------------------------------------


def test_resend_restarts_the_schedule(browser: Client, app: App, webhook: Webhook) -> None:
    made = delivery(webhook, DeliveryStatus.EXHAUSTED, *[REFUSED] * 6)
    response = browser.post(at(app, f"{made.pk}/resend/"), follow=True)
    assert "The delivery is being resent." in text_of(response)
    made.refresh_from_db()
    assert (made.status, made.attempts_made, made.attempt_count) == (DeliveryStatus.PENDING, 0, 6)


def test_resend_to_a_paused_webhook_is_refused(browser: Client, app: App, webhook: Webhook) -> None:
    made = delivery(webhook, DeliveryStatus.EXHAUSTED, REFUSED)
    Webhook.objects.update(is_active=False)
    assert "not active" in text_of(browser.post(at(app, f"{made.pk}/resend/"), follow=True))
    made.refresh_from_db()
    assert made.status == DeliveryStatus.EXHAUSTED


def test_selected_rows_are_resent_and_filters_stay(browser: Client, app: App, webhook: Webhook) -> None:
    made = [delivery(webhook, DeliveryStatus.EXHAUSTED, REFUSED) for _ in range(3)]
    test = delivery(webhook, event_type="webhook.test")
    selected = {"delivery": [*ids(*made[:2]), str(test.pk)]}
    response = browser.post(at(app, "resend/?status=EXHAUSTED"), selected)
    assert response["Location"] == at(app, "?status=EXHAUSTED")
    page = text_of(browser.get(response["Location"]))
    assert "2 deliveries are being resent." in page
    assert "1 not resent" in page
    assert listed(browser.get(at(app, "?status=PENDING"))) == ids(made[1], made[0])


@pytest.mark.parametrize("selected", [[], ["no-id"]])
def test_resend_without_a_selection_shows_an_error_on_the_list(
    browser: Client, app: App, webhook: Webhook, selected: list[str]
) -> None:
    made = delivery(webhook)
    response = browser.post(at(app, "resend/"), {"delivery": selected})
    assert response.status_code == 422
    assert "There is a problem" in text_of(response)
    assert listed(response) == ids(made)


@pytest.mark.long
def test_recover_counts_first_and_then_resends(browser: Client, app: App, webhook: Webhook) -> None:
    now = timezone.now()
    old = delivery(webhook, DeliveryStatus.EXHAUSTED, REFUSED, created_at=now - timedelta(days=3))
    failed = [delivery(webhook, DeliveryStatus.EXHAUSTED, REFUSED, created_at=now) for _ in range(2)]
    delivery(webhook, DeliveryStatus.EXHAUSTED, REFUSED, event_type="webhook.test")
    page = text_of(browser.get(at(app, "recover/")))
    assert "2 deliveries to 1 endpoint" in page
    assert "10 a second" in page
    since = re.search(r'name="since" value="([^"]+)"', page)
    assert since
    response = browser.post(at(app, "recover/"), {"webhook": "all", "since": since[1]}, follow=True)
    assert "2 deliveries are being resent" in text_of(response)
    old.refresh_from_db()
    assert old.status == DeliveryStatus.EXHAUSTED
    assert all(Delivery.objects.get(pk=each.pk).status == DeliveryStatus.PENDING for each in failed)
    again = browser.post(at(app, "recover/"), {"webhook": "all", "since": since[1]}, follow=True)
    assert "No failed or held deliveries have been created since then." in text_of(again)


def test_recover_of_one_endpoint_leaves_the_others(browser: Client, app: App, webhook: Webhook) -> None:
    other = helpers.webhook(webhook.installation, "https://two.example.com/", ["order.created"])
    mine, theirs = (delivery(each, DeliveryStatus.EXHAUSTED, REFUSED) for each in (webhook, other))
    browser.post(at(app, "recover/"), {"webhook": webhook.pk, "since": "2020-01-01T00:00"})
    mine.refresh_from_db()
    theirs.refresh_from_db()
    assert (mine.status, theirs.status) == (DeliveryStatus.PENDING, DeliveryStatus.EXHAUSTED)


@pytest.mark.parametrize("since", ["", "yesterday"])
def test_recover_without_a_time_shows_an_error(
    browser: Client, app: App, webhook: Webhook, since: str
) -> None:
    response = browser.post(at(app, "recover/"), {"webhook": "all", "since": since})
    assert response.status_code == 422
    assert "There is a problem" in text_of(response)


def test_recover_of_anothers_webhook_is_refused(
    browser: Client, app: App, webhook: Webhook, of_sam: Delivery
) -> None:
    Delivery.objects.filter(pk=of_sam.pk).update(status=DeliveryStatus.EXHAUSTED)
    wanted = {"webhook": of_sam.webhook_id, "since": "2020-01-01T00:00"}
    with unchanged(Delivery):
        assert browser.post(at(app, "recover/"), wanted).status_code == 422


def test_counting_stops_at_its_limit(browser: Client, app: App, webhook: Webhook, monkeypatch: Any) -> None:
    """At the limit itself nothing is left uncounted."""
    monkeypatch.setattr(delivery_log, "MAX_COUNTED", 2)
    for number, said in ((2, "2 deliveries to 1 endpoint"), (1, "More than 2 deliveries to 1 endpoint")):
        for _ in range(number):
            delivery(webhook, DeliveryStatus.EXHAUSTED, REFUSED)
        page = main_words_of(browser.get(at(app, "recover/"), {"since": "2020-01-01T00:00"}))
        assert ("More than" in page, said in page) == (said.startswith("More"), True)
    assert str(delivery_log.Counted(1_000)) == "1,000"


# --- Test events ------------------------------------------------------------------------------------


def send_event(browser: Client, app: App, event: str, page: str = "") -> Any:
    body = {"event": event} | ({"next": page} if page else {})
    return browser.post(f"/portal/apps/{app.slug}/test/event/", body, follow=True)


@pytest.mark.parametrize("page", ["deliveries/", "webhooks/", "test/"])
def test_test_event_is_sent_where_one_is_and_its_deliveries_are_shown(
    browser: Client, app: App, webhook: Webhook, page: str
) -> None:
    delivery(webhook)
    path = f"/portal/apps/{app.slug}"
    assert "An order was placed." in text_of(browser.get(f"{path}/{page}"))
    form = form_at(browser, f"{path}/{page}", f"{path}/test/event/")
    response: Any = send(browser, form, event="order.created", follow=True)
    made = Delivery.objects.latest("id")
    assert listed(response) == ids(made)
    assert "order.created is being sent to 1 endpoint." in text_of(response)


def test_test_event_without_its_scope_names_the_scope(browser: Client, app: App, webhook: Webhook) -> None:
    app.scopes = ["read_orders"]
    app.save()
    page = words_of(browser.get(f"/portal/apps/{app.slug}/webhooks/"))
    assert "Needs read_products" in page
    assert "Needs read_orders" not in page


@pytest.mark.long
def test_test_event_without_a_listener_sends_nothing_and_leads_back(
    browser: Client, app: App, webhook: Webhook
) -> None:
    back = f"/portal/apps/{app.slug}/webhooks/"
    answer = send_event(browser, app, "product.created", back)
    assert "Nothing was sent" in text_of(answer)
    assert answer.redirect_chain == [(back, 302)]
    elsewhere = send_event(browser, app, "product.created", "https://elsewhere.example/")
    assert elsewhere.redirect_chain[0][0].startswith(f"/portal/apps/{app.slug}/test/")
    assert not Delivery.objects.exists()


@pytest.mark.parametrize("event", ["", "webhook.test", "business.data_erasure", "x"])
def test_unknown_test_event_is_refused(browser: Client, app: App, webhook: Webhook, event: str) -> None:
    assert send_event(browser, app, event).status_code == 400
    assert not Event.objects.exists()


def test_page_that_test_events_once_had_leads_to_them(
    browser: Client, app: App, installation: Installation
) -> None:
    page = browser.get(f"/portal/apps/{app.slug}/test/event/", follow=True)
    assert '<details class="card flush fold" id="test-event" data-changes open>' in text_of(page)


def test_test_event_without_an_install_leads_to_it(browser: Client, app: App) -> None:
    assert "Install on sandbox" in text_of(browser.get(f"/portal/apps/{app.slug}/test/event/", follow=True))
    page = text_of(send_event(browser, app, "order.created"))
    assert "Install it there for testing first" in page
    assert "Install on sandbox" in page


# --- Causes and comparisons ----------------------------------------------------------------

CAUSES = "Failing deliveries by cause"


@pytest.mark.long
def test_failures_are_grouped_by_cause_and_resent_together(
    browser: Client, app: App, webhook: Webhook, shop: Business
) -> None:
    factories.approve(app)
    second = helpers.webhook(
        factories.installation(app, shop), "https://api.example.com/in", ["order.created"]
    )
    with time_machine.travel(NOW, tick=False):
        many = [
            delivery(each, DeliveryStatus.EXHAUSTED, *[REFUSED] * 6, created_at=NOW - timedelta(hours=hours))
            for each in (webhook, second)
            for hours in (4, 5)
        ]
        other = delivery(webhook, DeliveryStatus.RETRYING, UNAUTHORIZED)
        delivery(webhook, DeliveryStatus.SUCCEEDED, OK)
        page = text_of(browser.get(at(app)))
        assert "The connection was refused for 4 deliveries" in page
        assert "api.example.com, since 10:31." in page
        assert "Your endpoint returned 401 for 1 delivery" in page
        assert "The connection was refused for" not in text_of(browser.get(at(app, "?status=RETRYING")))

        group = {"reason": "refused", "host": "api.example.com"}
        assert "4 deliveries are being resent." in text_of(
            browser.post(at(app, "resend-group/"), group, follow=True)
        )
        assert "Nothing fails for that reason any more." in text_of(
            browser.post(at(app, "resend-group/"), group, follow=True)
        )
    for each in many:
        each.refresh_from_db()
        assert each.status == DeliveryStatus.PENDING
    due = other.due_at
    other.refresh_from_db()
    assert (other.status, other.due_at) == (DeliveryStatus.RETRYING, due)


@pytest.mark.long
def test_groups_leave_out_what_cannot_be_resent(browser: Client, app: App, webhook: Webhook) -> None:
    delivery(webhook, DeliveryStatus.EXHAUSTED, REFUSED, event_type="webhook.test")
    assert CAUSES not in text_of(browser.get(at(app)))
    delivery(webhook, DeliveryStatus.EXHAUSTED, *[REFUSED] * 6)
    assert "The connection was refused for 1 delivery" in text_of(browser.get(at(app)))
    Installation.objects.update(paused_at=timezone.now())
    assert CAUSES not in text_of(browser.get(at(app)))
    Installation.objects.update(paused_at=None)
    assert CAUSES in text_of(browser.get(at(app)))
    Webhook.objects.update(is_active=False)
    assert CAUSES not in text_of(browser.get(at(app)))


def test_delivery_is_compared_with_the_last_that_worked(browser: Client, app: App, webhook: Webhook) -> None:
    failed = delivery(
        webhook, DeliveryStatus.RETRYING, UNAVAILABLE, data={"orderId": "b", "amount": None, "note": "<b>"}
    )
    compare = at(app, f"{failed.pk}/compare/")
    assert "Compare with" not in text_of(browser.get(at(app, f"{failed.pk}/")))
    assert browser.get(compare).status_code == 302
    delivery(webhook, DeliveryStatus.SUCCEEDED, OK, data={"orderId": "a", "amount": 12.5})
    delivery(webhook, event_type="review.created")
    assert "Compare with" in text_of(browser.get(at(app, f"{failed.pk}/")))
    response = browser.get(compare)
    page = " ".join(text_of(response).split())
    for name, worked, this in (
        ("data.orderId", "&quot;a&quot;", "&quot;b&quot;"),
        ("data.amount", "12.5", "null"),
        ("data.note", "—", '&quot;&lt;b&gt;&quot; <span class="faint">only here'),
    ):
        row = page.partition(f">{name}</th>")[2].partition("</tr>")[0]
        assert worked in row
        assert this in row
    assert "X-Webhook-Signature" not in page
    assert "webhookId" not in page


def test_comparison_of_a_delivery_of_another_app_does_not_exist(
    browser: Client, app: App, of_sam: Delivery
) -> None:
    assert browser.get(at(app, f"{of_sam.pk}/compare/")).status_code == 404


def test_body_is_shown_formatted_and_as_sent(browser: Client, app: App, webhook: Webhook) -> None:
    made = delivery(webhook, data={"orderId": "a", "amount": 12.5})
    page = browser.get(at(app, f"{made.pk}/")).content.decode()
    assert "  &quot;data&quot;: {\n    &quot;orderId&quot;: &quot;a&quot;,\n" in page
    assert "&quot;data&quot;:{&quot;orderId&quot;:&quot;a&quot;,&quot;amount&quot;:12.5}}</code>" in page
    assert "data-live-state" not in page
    waiting = delivery(webhook, DeliveryStatus.RETRYING, REFUSED)
    page = text_of(browser.get(at(app, f"{waiting.pk}/")))
    assert 'data-live-state="RETRYING 1"' in page
    assert "None: the connection was refused. The attempt ended after 3 ms." in page
