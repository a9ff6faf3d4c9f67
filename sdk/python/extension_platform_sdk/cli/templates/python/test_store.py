"""The app on a store of the platform, from its install to the erasure of the store's data: three days in seconds."""

from datetime import datetime
from pathlib import Path

import installations
import pytest
from extension_platform_sdk.testing import TestStore, waits

SCHEDULE = [30, 120, 480, 1920, 7200]  # seconds between two attempts, or up to 5% more


def test_store_from_install_to_erasure(store: TestStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installations, "FILE", tmp_path / "installations.json")
    installations.keep(store.installation)

    with store.down(503):  # the app's server is down for an hour
        store.place_order()
        store.advance(hours=1)
        store.wait_for("order.created", attempts=5)
    store.advance(hours=2)
    delivery = store.wait_for("order.created")
    assert [attempt["httpStatus"] for attempt in delivery["attempts"]] == [503] * 5 + [200]
    assert all(wait <= waited <= 1.06 * wait for waited, wait in zip(waits(delivery), SCHEDULE, strict=True))

    with store.down(410):  # gone for good: the platform switches the webhook off
        store.place_order()
        store.advance(minutes=12)
        held = store.wait_for("order.created", attempts=4)
        store.advance(seconds=1)
    assert not store.client.webhook(store.webhook_id)["isActive"]
    store.client.update_webhook(store.webhook_id, is_active=True)
    assert store.client.recover(store.webhook_id, since=datetime.fromisoformat(held["createdAt"])) == 1
    store.wait_for("order.created")

    store.uninstall()
    store.advance(hours=48)
    store.wait_for("business.data_erasure")
    assert store.installation.access_token not in installations.FILE.read_text()
