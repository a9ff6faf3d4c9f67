"""The guide about missed events: its samples, put together as an app would, against the platform over HTTP."""

from pathlib import Path
from typing import Any

import pytest

from accounts.models import Business
from installations.models import Installation
from stores.models import Product
from stores.serializers import product_payload
from stores.services.catalogue.products import archive_product, create_product, delete_product, update_product
from tests import factories
from tests.developers.docs.guide_code import code
from tests.receivers import Receiver
from tests.sdk.type_checker import mistakes_of
from tests.webhooks.helpers import drain, wait_for_feed, webhook
from webhooks.models import Event

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timed]


class App:
    """The guide's samples as one module, with the two functions that it leaves to the app."""

    def __init__(self) -> None:
        self.products: dict[str, Any] = {}
        self.handled: list[str] = []
        self.dies_at: str | None = None
        self.module: dict[str, Any] = {"save": self.save, "handle": self.handle}
        for sample in code("missed-events", "python"):
            exec(sample, self.module)  # noqa: S102

    def save(self, record: dict[str, Any]) -> None:
        self.products[record["id"]] = record

    def handle(self, event: str, data: dict[str, Any]) -> None:
        if self.dies_at == event:
            self.dies_at = None
            raise KeyboardInterrupt
        self.handled.append(event)
        product = {name: value for name, value in data.items() if name != "changedFields"}
        if event == "product.deleted" or product["status"] == "ARCHIVED":
            self.products.pop(product["id"], None)
        else:
            self.save(product)


@pytest.fixture
def app_of_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> App:
    monkeypatch.chdir(tmp_path)
    return App()


@pytest.mark.long
@pytest.mark.usefixtures("tasks_run_at_once")
def test_samples_find_all_that_was_missed(
    app_of_guide: App, installation: Installation, sandbox: Business, live_server: Any, settings: Any
) -> None:
    settings.BASE_URL = live_server.url
    here = (live_server.url, str(sandbox.pk), installation.raw_token)  # type: ignore[attr-defined]
    kept, renamed, deleted, archived = (factories.product(sandbox) for _ in range(4))
    app_of_guide.module["first_sync"](*here)
    assert set(app_of_guide.products) == {str(each.pk) for each in (kept, renamed, deleted, archived)}

    update_product(product=renamed, name="Renamed")
    delete_product(product=deleted)
    archive_product(product=archived)
    create_product(business=sandbox, name="New", price=100)
    wait_for_feed()
    app_of_guide.dies_at = "product.deleted"
    with pytest.raises(KeyboardInterrupt):
        app_of_guide.module["catch_up"](*here)
    app_of_guide.module["catch_up"](*here)
    app_of_guide.module["catch_up"](*here)
    told = Event.objects.order_by("position", "id").values_list("type", flat=True)
    assert app_of_guide.handled == list(told)
    rows = Product.objects.filter(business=sandbox, status="ACTIVE")
    assert app_of_guide.products == {str(row.pk): product_payload(row, sandbox.currency) for row in rows}


@pytest.mark.long
@pytest.mark.usefixtures("tasks_run_at_once")
def test_work_is_done_once_for_webhook_and_feed(
    app_of_guide: App, installation: Installation, sandbox: Business, live_server: Any, settings: Any
) -> None:
    """The router of the guide gets what the platform sends, one delivery of it twice, and fails at another once."""
    settings.BASE_URL = live_server.url
    settings.ALLOW_LOCAL_DESTINATIONS = True
    here = (live_server.url, str(sandbox.pk), installation.raw_token)  # type: ignore[attr-defined]
    names = ["product.created", "product.updated", "product.deleted"]
    with Receiver() as receiver:
        secret = webhook(installation, receiver.url, names).secret
        product = create_product(business=sandbox, name="New", price=100)
        update_product(product=product, name="Renamed")
        delete_product(product=product)
        drain()
        sent = receiver.wait_for(3)
    app_of_guide.dies_at = "product.deleted"
    statuses = []
    for request in [*sent, sent[0]]:
        try:
            response = app_of_guide.module["router"].handle(request.headers, request.body, secret)
        except KeyboardInterrupt:
            continue
        statuses.append(response.status)
    assert statuses == [200] * 3
    wait_for_feed()
    app_of_guide.module["catch_up"](*here)
    app_of_guide.module["catch_up"](*here)
    assert sorted(app_of_guide.handled) == sorted(names)


@pytest.mark.slow  # some seconds
def test_type_checker_finds_no_mistake(tmp_path: Path) -> None:
    given = "def handle(event: str, data: object) -> None: ...\n\n\ndef save(record: object) -> None: ...\n"
    samples = "\n".join([given, *code("missed-events", "python")])
    assert mistakes_of(tmp_path, samples) == set()
