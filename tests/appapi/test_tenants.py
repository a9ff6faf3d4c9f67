"""Every endpoint that takes an id, given what belongs to somebody else: a 404, as if it did not exist."""

import pytest
from django.db.models import Model
from django.test import Client

from accounts.models import Business
from installations.models import Installation
from marketplace.models import App
from stores.models import Order, Payment, Product, Review, SitePage
from tests import factories
from tests.appapi.endpoints import ENDPOINTS, WITH_ID, Ids, call, parameters, world
from tests.state import unchanged
from webhooks.models import Delivery, Event, Webhook

# Whatever an endpoint could change.
KEPT: tuple[type[Model], ...] = (Order, Payment, Product, Review, SitePage, Webhook, Event, Delivery)

OF_AN_INSTALLATION = [name for name in WITH_ID if "<webhook_id>" in name]


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


def assert_absent(api: Client, name: str, ids: Ids, *, foreign: list[str]) -> None:
    """The call answers and does what it would with ids that do not exist in place of the `foreign` ones."""
    with unchanged(*KEPT):
        answer = call(api, name, ids)
    assert (answer.status_code, answer.json()["error"]) == (404, "Not Found")
    absent = ids | dict.fromkeys(foreign, "nothing")
    assert answer.json()["message"] == call(api, name, absent).json()["message"]


@pytest.mark.spec("Contract 0 Conventions", "Another tenant's object is a 404, like one that does not exist")
@pytest.mark.parametrize("name", WITH_ID)
def test_id_of_another_business_is_404(name: str, api: Client, own: Ids, foreign: Ids) -> None:
    assert_absent(api, name, foreign, foreign=parameters(name))
    answer = call(api, name, own)
    assert answer.status_code == ENDPOINTS[name].status  # it was the id that made the difference


@pytest.mark.spec(
    "Contract 0 Conventions", "Webhook and delivery of another installation on the business are 404s"
)
@pytest.mark.parametrize("name", OF_AN_INSTALLATION)
def test_webhook_of_another_installation_is_404(name: str, api: Client, neighbours: Ids) -> None:
    assert_absent(api, name, neighbours, foreign=parameters(name))


@pytest.mark.parametrize("name", [name for name in WITH_ID if len(parameters(name)) > 1])
@pytest.mark.parametrize("changed", ["webhook_id", "delivery_id"])
def test_delivery_under_a_webhook_that_is_not_its_own_is_404(
    name: str, changed: str, api: Client, own: Ids, foreign: Ids, neighbours: Ids
) -> None:
    for others in (foreign, neighbours):
        assert_absent(api, name, own | {changed: others[changed]}, foreign=[changed])


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
        answer = call(api, "POST /app-api/orders", own | {"product_id": foreign["product_id"]})
    assert answer.status_code == 404
