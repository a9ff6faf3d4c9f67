"""The app, from the platform's side."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import config
import installations
import pytest
import signed

Send = Callable[..., tuple[int, Any]]


@pytest.fixture(autouse=True)
def _store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One store is installed, and its file is the test's own."""
    monkeypatch.setattr(installations, "FILE", tmp_path / "installations.json")
    monkeypatch.setattr(config, "BUSINESS_ID", signed.BUSINESS)
    monkeypatch.setattr(config, "WEBHOOK_SECRET", signed.SECRET)


def test_webhook_is_received(send: Send, capsys: pytest.CaptureFixture[str]) -> None:
    status, _ = send("/webhooks", *signed.webhook("order.created", {"orderNumber": 1042}))
    assert status == 200
    assert "New order 1042" in capsys.readouterr().out


def test_forged_webhook_is_refused(send: Send) -> None:
    body, headers = signed.webhook("order.created", {"orderNumber": 1042})
    assert send("/webhooks", body + b" ", headers)[0] == 401


@pytest.mark.parametrize(("subtotal", "discount"), [(1999, 0), (2000, 200)])
def test_hook_is_answered(send: Send, subtotal: int, discount: int) -> None:
    status, answer = send("/webhooks/hooks", *signed.hook_call("order.calculate_discounts", {"subtotal": subtotal}))
    assert (status, answer["discount"]) == (200, discount)


def test_block_may_be_framed(get: Callable[..., tuple[int, Any]]) -> None:
    status, headers = get("/block")
    assert status == 200
    assert "x-frame-options" not in {name.lower() for name in headers}


def test_answer_for_another_browser_is_refused(get: Callable[..., tuple[int, Any]]) -> None:
    assert get("/callback?code=abc&state=stolen")[0] == 400
