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
        ("例え.jp", "https://xn--r8jz45g.jp"),
        ("pl🄰tform.example", "https://xn--pltform-"),
        ("Stars.Example.com:443", "https://stars.example.com"),
        ("[2606:4700::1111]:8443", "https://[2606:4700::1111]:8443"),
    ],
)
def test_policy_names_hosts_in_ascii(shop: Business, app: App, host: str, origin: str) -> None:
    """Also those of manifests that were saved before the rules of today."""
    factories.approve(app)
    installed(app, shop)
    define(app, ExtensionType.EMBED, "chat", renderUrl=f"https://{host}/w")

    policy = _policy(Client(SERVER_NAME=STORES_HOST).get(f"/store/{shop.slug}/"))

    assert policy["default-src"]
    assert any(source.startswith(origin) for source in policy["frame-src"])


def _policy(response: Any) -> dict[str, list[str]]:
    assert response.status_code == 200
    parts = (part.split() for part in response["Content-Security-Policy"].split(";"))
    return {name: sources for name, *sources in parts}
