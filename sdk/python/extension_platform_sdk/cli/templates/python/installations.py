"""The stores that installed the app: a JSON file. Use your database instead once you have one."""

import json
import os
import threading
from dataclasses import asdict
from typing import Any

import config
from extension_platform_sdk import AppClient, HookCall, Installation, WebhookEvent

FILE = config.FOLDER / "installations.json"
_lock = threading.Lock()


def keep(installation: Installation) -> None:
    with _lock:
        _write(_read() | {installation.business_id: asdict(installation)})


def forget(business_id: str) -> None:
    """Delete everything about a store but its webhook secret, which verifies a repeat of the erasure."""
    with _lock:
        stores = _read()
        if business_id in stores:
            stores[business_id] = {"webhook_secret": stores[business_id]["webhook_secret"]}
            _write(stores)


def secret_of(business_id: str) -> str | None:
    """The webhook secret of a store; None for an unknown one."""
    kept = _read().get(business_id)
    if kept is not None:
        return str(kept["webhook_secret"])
    return config.WEBHOOK_SECRET if business_id and business_id == config.BUSINESS_ID else None


def dashboard_of(business_id: str) -> str | None:
    """The app's page in the dashboard of a store; None for a store without the app."""
    installation_id = _read().get(business_id, {}).get("installation_id")
    return f"{config.PLATFORM_URL}/merchant/apps/{installation_id}/" if installation_id else None


def client_of(call: WebhookEvent[Any] | HookCall[Any]) -> AppClient | None:
    """The app API of the store that an event or hook call comes from; None once the store is forgotten.

    Its calls are in the thread of the event, which the portal shows.
    """
    kept = _read().get(call.business_id)
    token = kept.get("access_token") if kept is not None else config.ACCESS_TOKEN
    return AppClient(config.PLATFORM_URL, token).following(call.traceparent) if token else None


def _read() -> dict[str, Any]:
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def _write(stores: dict[str, Any]) -> None:
    fresh = FILE.with_suffix(".new")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as text:
        json.dump(stores, text, indent=2)
    fresh.replace(FILE)
