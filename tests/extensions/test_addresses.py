"""The origins of apps in the policy of a store's pages."""

from typing import Any

import pytest
from django.test import Client

from accounts.models import Business
from extensions.enums import ExtensionType
from marketplace.models import App
from tests import factories
from tests.extensions.cast import define
from tests.merchants.pages import installed
from tests.storefront.shopping import STORES_HOST


@pytest.mark.spec("Contract 6 Extensions", "An app's address never switches off the policy of a page")
@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("例え.jp", None),
        ("pl🄰tform.example", None),
        ("Stars.Example.com:443", "https://stars.example.com"),
        ("[2606:4700::1111]:8443", "https://[2606:4700::1111]:8443"),
    ],
)
def test_policy_names_hosts_in_ascii(shop: Business, app: App, host: str, origin: str | None) -> None:
    """And leaves out a host beyond ASCII, of a manifest that was saved before the rules of today."""
    factories.approve(app)
    installed(app, shop)
    define(app, ExtensionType.EMBED, "chat", renderUrl=f"https://{host}/w")

    policy = _policy(Client(SERVER_NAME=STORES_HOST).get(f"/store/{shop.slug}/"))

    assert policy["default-src"]
    assert policy["frame-src"] == ["'self'", *([origin] if origin else [])]


def _policy(response: Any) -> dict[str, list[str]]:
    assert response.status_code == 200
    parts = (part.split() for part in response["Content-Security-Policy"].split(";"))
    return {name: sources for name, *sources in parts}
