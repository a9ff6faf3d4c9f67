"""The app, from the platform's side."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import config
import installations
import installing
import pytest
import signed
from extension_platform_sdk import AppClient, Installation

Send = Callable[..., tuple[int, Any]]


@pytest.fixture(autouse=True)
def _store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One store is installed, and its file is the test's own."""
    monkeypatch.setattr(installations, "FILE", tmp_path / "installations.json")
    monkeypatch.setattr(config, "BUSINESS_ID", signed.BUSINESS)
    monkeypatch.setattr(config, "WEBHOOK_SECRET", signed.SECRET)
    monkeypatch.setattr(config, "ACCESS_TOKEN", "fbat_test_example")


def test_webhook_is_received(
    send: Send, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    orders = {"o-1": {"orderNumber": 1042, "items": [{"quantity": 2, "name": "Espresso"}]}}
    monkeypatch.setattr(AppClient, "order", lambda client, order_id: orders[order_id])
    status, _ = send("/webhooks", *signed.webhook("order.created", {"orderId": "o-1"}))
    assert status == 200
    assert "New order 1042: 2 x Espresso" in capsys.readouterr().out


def test_forged_webhook_is_refused(send: Send) -> None:
    body, headers = signed.webhook("order.created", {"orderId": "o-1"})
    assert send("/webhooks", body + b" ", headers)[0] == 401


@pytest.mark.parametrize(("subtotal", "discount"), [(1999, 0), (2000, 200)])
def test_hook_is_answered(send: Send, subtotal: int, discount: int) -> None:
    status, answer = send("/webhooks/hooks", *signed.hook_call("order.calculate_discounts", {"subtotal": subtotal}))
    assert (status, answer["discount"]) == (200, discount)


def test_block_may_be_framed(get: Callable[..., tuple[int, Any]]) -> None:
    status, headers = get("/block")
    assert status == 200
    assert "x-frame-options" not in {name.lower() for name in headers}


def test_merchant_is_led_back_to_the_dashboard(get: Callable[..., tuple[int, Any]]) -> None:
    installations.keep(Installation("fbat_example", "i-1", signed.SECRET, signed.BUSINESS, True, ""))
    assert get(f"/welcome?business={signed.BUSINESS}")[0] == 200
    assert f'href="{config.PLATFORM_URL}/merchant/apps/i-1/"' in str(installing.welcome(signed.BUSINESS))
    assert get("/welcome?business=b-2")[0] == 404


def test_answer_for_another_browser_is_refused(get: Callable[..., tuple[int, Any]]) -> None:
    assert get("/callback?code=abc&state=stolen")[0] == 400
