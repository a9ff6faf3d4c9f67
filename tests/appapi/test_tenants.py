"""Every endpoint that takes an id, given what belongs to somebody else: a 404, as if it did not exist."""

import pytest
from django.db.models import Model
from django.test import Client

from accounts.models import Business
from installations.models import Installation
from marketplace.models import App
from stores.models import Order, Payment, Product, Review, SitePage
from tests import factories
from tests.appapi.world import Ids, call, world
from tests.endpoints_table import OF_APPS, Endpoint
from tests.state import unchanged
from webhooks.models import Delivery, Event, Webhook

# Whatever an endpoint could change.
KEPT: tuple[type[Model], ...] = (Order, Payment, Product, Review, SitePage, Webhook, Event, Delivery)

WITH_ID = [each for each in OF_APPS if each.parameters]
OF_AN_INSTALLATION = [each for each in WITH_ID if "webhook_id" in each.parameters]
ORDER = next(each for each in OF_APPS if str(each) == "POST app-api/orders")


def each(cases: list[Endpoint]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("endpoint", cases, ids=str)


@pytest.fixture
def own(installation: Installation) -> Ids:
    return world(installation)


@pytest.fixture
def foreign(elsewhere: Installation) -> Ids:
    """Sam's, in another business."""
    return world(elsewhere, slug="coffee")


@pytest.fixture
def neighbours(second_app: App, sandbox: Business) -> Ids:
    """Of another app on the same business."""
    return world(factories.installation(second_app, sandbox), slug="cake")


def assert_absent(api: Client, endpoint: Endpoint, ids: Ids, *, foreign: list[str]) -> None:
    """The call answers and does what it would with ids that do not exist in place of the `foreign` ones."""
    with unchanged(*KEPT):
        answer = call(api, endpoint, ids)
    assert (answer.status_code, answer.json()["error"]) == (404, "Not Found")
    absent = ids | dict.fromkeys(foreign, "nothing")
    assert answer.json()["message"] == call(api, endpoint, absent).json()["message"]


@pytest.mark.spec("Contract 0 Conventions", "Another tenant's object is a 404, like one that does not exist")
@each(WITH_ID)
def test_id_of_another_business_is_404(endpoint: Endpoint, api: Client, own: Ids, foreign: Ids) -> None:
    assert_absent(api, endpoint, foreign, foreign=endpoint.parameters)
    answer = call(api, endpoint, own)
    assert answer.status_code == endpoint.status  # it was the id that made the difference


@pytest.mark.spec(
    "Contract 0 Conventions", "Webhook and delivery of another installation on the business are 404s"
)
@each(OF_AN_INSTALLATION)
def test_webhook_of_another_installation_is_404(endpoint: Endpoint, api: Client, neighbours: Ids) -> None:
    assert_absent(api, endpoint, neighbours, foreign=endpoint.parameters)


@each([each for each in WITH_ID if len(each.parameters) > 1])
@pytest.mark.parametrize("changed", ["webhook_id", "delivery_id"])
def test_delivery_under_a_webhook_that_is_not_its_own_is_404(
    endpoint: Endpoint, changed: str, api: Client, own: Ids, foreign: Ids, neighbours: Ids
) -> None:
    for others in (foreign, neighbours):
        assert_absent(api, endpoint, own | {changed: others[changed]}, foreign=[changed])


@pytest.mark.spec("Contract 0 Conventions", "Lists hold nothing of another business or another installation")
@pytest.mark.parametrize(
    "name", ["/app-api/products", "/app-api/orders", "/app-api/reviews", "/app-api/pages", "/webhooks"]
)
def test_lists_hold_nothing_of_another_tenant(name: str, api: Client, own: Ids, foreign: Ids) -> None:
    listed = api.get(name).json()
    assert (len(listed["data"]), listed["total"]) == (1, 1)
    assert listed["data"][0]["id"] not in foreign.values()


def test_figures_hold_nothing_of_another_tenant(api: Client, own: Ids, foreign: Ids) -> None:
    assert api.get("/app-api/reviews/stats").json()["total"] == 1
    assert api.get("/app-api/analytics/dashboard").json()["totalOrders"] == 1


def test_order_of_another_business_s_product_is_404(api: Client, own: Ids, foreign: Ids) -> None:
    with unchanged(*KEPT):
        answer = call(api, ORDER, own | {"product_id": foreign["product_id"]})
    assert answer.status_code == 404
