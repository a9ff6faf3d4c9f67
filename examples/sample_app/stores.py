"""The stores that have the app, and what it must keep of each: a token and secrets."""

from dataclasses import asdict, dataclass

from .bell import bell
from .database import now_text


@dataclass(frozen=True, slots=True)
class Store:
    """One installation of the app.

    ``installation_secret`` is the installation's webhook secret, which signs hook calls and session tokens; empty if the app only
    knows an access token. ``webhook_secret`` signs the webhooks. Both are the same if the app's Webhook URL leads here.
    ``ended_at`` is when the app learned that its token has ended. The store's data stays until the erasure call, which a new
    install may cancel. After the erasure only ids remain, and the secret that verifies a repeat of that call.
    """

    installation_id: str
    business_id: str
    business_name: str
    currency: str
    storefront_url: str
    is_test_install: bool
    by_oauth: bool
    access_token: str
    installation_secret: str
    webhook_id: str
    webhook_secret: str
    webhook_url: str
    missing_events: str
    connected_at: str
    ended_at: str | None = None
    erased_at: str | None = None
    erased_webhooks: int = 0

    @property
    def name(self) -> str:
        return self.business_name or f"Store {self.business_id}"


def find(condition: str, *values: str) -> list[Store]:
    """The newest first."""
    query = f"SELECT * FROM stores WHERE {condition} ORDER BY connected_at DESC"  # noqa: S608 - from this code only
    return [Store(**dict(row)) for row in bell.database.run(query, *values)]


def of_installation(installation_id: str) -> Store | None:
    return next(iter(find("installation_id = ? AND erased_at IS NULL", installation_id)), None)


def of_business(business_id: str) -> Store | None:
    return next(iter(find("business_id = ? AND erased_at IS NULL AND ended_at IS NULL", business_id)), None)


def of_webhook(webhook_id: str) -> Store | None:
    """Also an erased store, whose erasure may be repeated."""
    return next(iter(find("webhook_id = ? AND webhook_id <> ''", webhook_id)), None)


def secret_of_webhook(webhook_id: str) -> str | None:
    store = of_webhook(webhook_id)
    return store.webhook_secret if store else None


def secret_of_business(business_id: str) -> str | None:
    store = of_business(business_id)
    return store.installation_secret if store else None


def secret_of_installation(installation_id: str) -> str | None:
    store = of_installation(installation_id)
    return store.installation_secret if store and not store.ended_at else None


def save(store: Store) -> Store:
    """Add a store, or replace the same installation. Earlier installations on that store have ended, and are deleted."""
    values = asdict(store)
    names, marks = ", ".join(values), ", ".join(f":{name}" for name in values)
    with bell.database.transaction() as connection:
        connection.execute(f"INSERT OR REPLACE INTO stores ({names}) VALUES ({marks})", values)  # noqa: S608
        if store.by_oauth:
            connection.execute(
                "DELETE FROM stores WHERE business_id = ? AND installation_id <> ? AND by_oauth AND erased_at IS NULL",
                (store.business_id, store.installation_id),
            )
    return store


def end(store: Store) -> None:
    """Note that the token has ended. The first time counts."""
    bell.database.run(
        "UPDATE stores SET ended_at = coalesce(ended_at, ?) WHERE installation_id = ?",
        now_text(), store.installation_id,
    )  # fmt: skip


def remove(store: Store) -> None:
    bell.database.run("DELETE FROM stores WHERE installation_id = ?", store.installation_id)


def erase(business_id: str, webhook_id: str) -> None:
    """Delete everything of a store but its ids and the secret of its webhook."""
    with bell.database.transaction() as connection:
        for table in ("invoices", "rings"):
            connection.execute(f"DELETE FROM {table} WHERE business_id = ?", (business_id,))  # noqa: S608
        gone = connection.execute(
            "DELETE FROM received WHERE business_id = ? OR webhook_id = ?", (business_id, webhook_id)
        ).rowcount
        connection.execute(
            "UPDATE stores SET access_token = '', business_name = '', currency = '', installation_secret = '',"
            " storefront_url = '', erased_at = ?, erased_webhooks = ? WHERE webhook_id = ? AND erased_at IS NULL",
            (now_text(), gone, webhook_id),
        )
    bell.cache.forget(business_id)
