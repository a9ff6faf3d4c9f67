"""A store that the sample app is installed on, as the platform, shoppers and merchants meet the app there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import requests

from .driver import SampleApp
from .fake_platform import FakePlatform


def install(platform: FakePlatform) -> str:
    """Install by OAuth, as from the marketplace; the access token."""
    known = set(platform.installations)
    requests.get(platform.oauth.install_from_the_marketplace(), timeout=5).raise_for_status()
    (token,) = set(platform.installations) - known
    return token


@dataclass(frozen=True)
class Store:
    app: SampleApp
    platform: FakePlatform
    token: str

    @property
    def installation(self) -> str:
        found: str = self.platform.installations[self.token]["installationId"]
        return found

    @property
    def business_id(self) -> str:
        found: str = self.platform.installations[self.token]["businessId"]
        return found

    def hook(self, point: str, **data: Any) -> dict[str, Any]:
        """The answer at a hook point, which has to be one."""
        response = self.platform.call_hook(self.app.url, self.token, point, data)
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer

    def invoice(self, **data: Any) -> dict[str, Any]:
        """What Bell Pay answers to `checkout.create_payment`."""
        order = {
            "orderId": "o-1",
            "amount": "2450",
            "currency": "EUR",
            "paymentMethodId": "bell-pay",
            "businessId": self.business_id,
            "description": "Order 1042 at Harbour Bakery",
        }
        return self.hook("checkout.create_payment", **order | data)

    def press(self, url: str, status: str, **headers: str) -> requests.Response:
        """One of the two buttons of a payment's page."""
        return requests.post(
            url, data={"status": status}, headers={"Origin": self.app.url} | headers, timeout=5
        )

    def get(self, path: str, **headers: str) -> requests.Response:
        """As somebody whom the app doesn't know."""
        return requests.get(self.app.url + path, headers=headers, timeout=5)

    def post(self, path: str, body: object, **headers: str) -> requests.Response:
        """As a script of the app's own page does."""
        return requests.post(
            self.app.url + path, json=body, headers={"Origin": self.app.url} | headers, timeout=5
        )

    def ring(self) -> requests.Response:
        return self.post("/widget/rings", {"businessId": self.business_id})

    def enter(self) -> str:
        """The store's own page, from the admin page."""
        return self.app.press("/enter", session=self.session())

    def let_in(self, token: str, business_id: str | None = None) -> requests.Response:
        """What the admin page's script does with its session token, and with the message to the page."""
        body = {"businessId": self.business_id if business_id is None else business_id}
        return self.post("/admin/session", body, Authorization=f"Bearer {token}")

    def session(self) -> str:
        answer = self.let_in(self.platform.session_token(self.token))
        assert answer.status_code == 200, answer.text
        found: str = answer.json()["session"]
        return found

    def overview(self, session: str) -> requests.Response:
        return self.get("/admin/overview/content", Authorization=f"Bearer {session}")
