"""The stores that installed the app."""

import sqlite3

import environment
from database import transaction
from extension_platform_sdk import AppClient, Installation

TIMEOUT = 5  # seconds


def keep(installed: Installation) -> None:
    """Also of a store that comes back. Its orders are read again, because shoppers have other keys at a new installation."""
    with transaction() as rows:
        rows.execute(
            "INSERT OR REPLACE INTO stores (business_id, installation_id, access_token, webhook_secret) VALUES (?, ?, ?, ?)",
            (
                installed.business_id,
                installed.installation_id,
                installed.access_token,
                installed.webhook_secret,
            ),
        )
        rows.execute(
            "UPDATE orders SET shopper = NULL, due = due + 1 WHERE business_id = ?",
            (installed.business_id,),
        )
        rows.execute("DELETE FROM offers WHERE business_id = ?", (installed.business_id,))


def forget(business_id: str) -> None:
    """Delete everything about a store but its webhook secret."""
    with transaction() as rows:
        rows.execute("DELETE FROM orders WHERE business_id = ?", (business_id,))
        rows.execute("DELETE FROM offers WHERE business_id = ?", (business_id,))
        rows.execute(
            "UPDATE stores SET installation_id = NULL, access_token = NULL, locale = NULL WHERE business_id = ?",
            (business_id,),
        )


def secret_of(business_id: str) -> str | None:
    """The webhook secret of a store; None for an unknown one."""
    found = _find("business_id", business_id)
    return found["webhook_secret"] if found else None


def secret_of_installation(installation_id: str) -> str | None:
    found = _find("installation_id", installation_id)
    return found["webhook_secret"] if found else None


def dashboard_of(business_id: str) -> str | None:
    """The app's page in the dashboard of a store; None for a store without the app."""
    found = _find("business_id", business_id)
    if not found or not found["installation_id"]:
        return None
    return f"{environment.PLATFORM_URL}/merchant/apps/{found['installation_id']}/"


def client_of(business_id: str) -> AppClient | None:
    """The app API of a store; None once the store is forgotten."""
    found = _find("business_id", business_id)
    if not found or not found["access_token"]:
        return None
    return AppClient(environment.PLATFORM_URL, found["access_token"], timeout=TIMEOUT)


def locale_of(business_id: str) -> str:
    """The language that the store speaks to its shoppers, once it is known."""
    found = _find("business_id", business_id)
    return (found and found["locale"]) or ""


def keep_locale(business_id: str, locale: str) -> None:
    with transaction() as rows:
        rows.execute("UPDATE stores SET locale = ? WHERE business_id = ?", (locale, business_id))


def _find(column: str, value: str) -> sqlite3.Row | None:
    with transaction() as rows:
        query = f"SELECT * FROM stores WHERE {column} = ?"  # noqa: S608 - one of the names above
        found: sqlite3.Row | None = rows.execute(query, (value,)).fetchone()
    return found
