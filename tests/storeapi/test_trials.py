"""A copy of a connected store, on which its people try an app (contract, section 21)."""

import pytest
from django.test import Client

from accounts.models import Business, ConnectedStore, User
from stores.models import Order
from tests import factories
from tests.forms import form_at, send
from tests.installations.oauth_client import SECRET, address, exchange, sent_to
from tests.merchants.pages import listed_app
from tests.pages import HTML
from tests.storeapi.people import path_of, ticket
from teststores import trials

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.spec("Contract 21 Trials", "Try it on a copy of a connected store"),
]


@pytest.mark.parametrize("role", ["OWNER", "MANAGER", "ORDERS"])
def test_session_of_a_ticket_holds_for_the_copy(
    shop: Client, store: ConnectedStore, dana: User, role: str
) -> None:
    """The copy is an ordinary store: it has pages that the store itself hasn't."""
    app = listed_app(dana, ["read_orders"], name="Bell", slug="bell", client_secret=SECRET)
    factories.product(store.business, external_id="rye")
    factories.order(store.business, external_id="1001", customer_email="kim@quist.example")
    browser = Client(headers=HTML)
    browser.get(path_of(ticket(shop, role=role)))
    asked = browser.post("/marketplace/bell/try/", {"business": str(store.business_id)})
    if role == "ORDERS":
        assert asked.status_code == 403
        return
    trials.make_copies()
    to, query = sent_to(browser.get(asked["Location"]))
    copy = Business.objects.get(copy_of=store.business)
    assert (to, query["business_id"]) == ("/oauth/authorize", str(copy.pk))
    assert (copy.is_connected, copy.is_sandbox) == (False, True)
    path = address(app, business_id=str(copy.pk))
    page = browser.get(path)
    _, given = sent_to(browser.post(path, {"scopes": "read_orders", "answer": "install"}))
    assert "This is a copy" in page.content.decode()
    token = exchange(app, given["code"]).json()["access_token"]
    orders = Client().get("/app-api/orders", headers={"authorization": f"Bearer {token}"}).json()["data"]
    assert "externalId" not in orders[0]
    assert "kim@quist.example" not in str(orders)
    row = Order.objects.get(business=copy)
    assert [
        browser.get(f"/merchant/{each}").status_code for each in ("orders/", f"orders/{row.pk}/", "staff/")
    ] == [200, 200, 404]
    assert send(browser, form_at(browser, "/merchant/apps/", "/merchant/trial/back/")).status_code == 302
    assert browser.get("/merchant/orders/").status_code == 404
    assert send(browser, form_at(browser, "/merchant/apps/", "/merchant/trial/copy/")).status_code == 302
    assert browser.get("/merchant/orders/").status_code == 200
    assert send(browser, form_at(browser, "/merchant/apps/", "/merchant/trial/end/")).status_code == 302
    assert browser.get("/merchant/orders/").status_code == 404
