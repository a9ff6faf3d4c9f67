"""The calls of the store API, for one store of a connection.

Rows and records are JSON objects as dicts, with the platform's names. Money is in major units, in hooks in minor units.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlsplit

import requests
from requests.auth import AuthBase

from .errors import ApiError, Unreachable, error_from
from .plain import to_json

TIMEOUT = 30.0
SMALL = 1_000  # bytes, for which compressing isn't worth it
LOCAL = ("localhost", "127.0.0.1", "::1")

Record = dict[str, Any]


class StoreClient:
    """Calls with the key of the connection, over one connection pool.

    Every method raises ``ApiError`` for an error answer and ``Unreachable`` when none came within ``timeout`` seconds.
    It tries nothing again: ``Sender`` does. Use one client per thread.

    Making one raises ``ValueError`` for a key that can't be sent, without showing it.
    """

    def __init__(self, base_url: str, key: str, store: str, *, timeout: float = TIMEOUT) -> None:
        if not key.isascii() or not key.isprintable() or not key or " " in key:
            raise ValueError(
                "The key of the connection is empty, or has a character that no key has. Copy it again."
            )
        self.store = store
        self._base_url = base_url.rstrip("/")
        self._timeout = timeout
        self._session = requests.Session()
        self._session.auth = _Bearer(key)
        if (urlsplit(base_url).hostname or "") in LOCAL:
            self._session.trust_env = False  # no proxy can reach this machine for us

    def close(self) -> None:
        """Close the connections. The client can't be used afterwards."""
        self._session.close()

    # The store

    def put_store(self, record: Record) -> Record:
        """Open the store, or change its record; ``name`` and ``currency`` are required. Return the Business record."""
        return self._record("PUT", "", record)

    def end_store(self) -> None:
        """End the store: its apps are uninstalled, and all that was pushed is deleted."""
        self._send("DELETE", "")

    def wanted(self, etag: str | None = None) -> tuple[Record | None, str | None]:
        """Return what the store's apps read, and its ETag. With the ETag of before, the record is None if nothing changed."""
        response = self._send("GET", "/wanted", headers={"If-None-Match": etag} if etag else None)
        if response.status_code == 304:
            return None, etag
        return _record_of(response), response.headers.get("ETag")

    # Rows

    def push(self, rows: Sequence[Record], *, quiet: bool = False) -> list[Record]:
        """Push up to 500 rows, and return what became of each, in their order."""
        answer = self._record("POST", "/rows", {"quiet": quiet, "rows": list(rows)})
        results = answer.get("results")
        if not isinstance(results, list) or len(results) != len(rows):
            raise ApiError(502, "the answer does not have a result for each row")
        return results

    def compare(
        self,
        resource: str,
        rows: Sequence[tuple[str, int]],
        *,
        after: str | None,
        until: str | None,
        taken_at: datetime,
    ) -> Record:
        """Compare an interval of ids with the platform's: ``missing, outdated, ahead, unknown, deleted``."""
        body = {
            "resource": resource,
            "after": after,
            "until": until,
            "rows": [list(row) for row in rows],
            "delete": resource != "orders",
            "takenAt": taken_at.isoformat(),
        }
        return self._record("POST", "/snapshot", body)

    # The checkout

    def ask(
        self,
        point: str,
        data: Mapping[str, Any],
        *,
        budget_ms: int,
        quote: str | None,
        timeout: float,
        shopper: Mapping[str, str | None] | None = None,
        attributes: Mapping[str, Mapping[str, str]] | None = None,
    ) -> Record:
        """Ask the store's apps, and return ``answer, parts, quote``. ``Hooks`` does so within a time, and with a cache.

        ``shopper`` is ``{"email", "phone"}``, or one of them; ``attributes`` are the cart's texts by the app's slug.
        """
        more = {"quote": quote, "shopper": shopper, "attributes": attributes}
        body = {"data": dict(data), "budgetMs": budget_ms} | {key: each for key, each in more.items() if each}
        return self._record("POST", f"/hooks/{point}", body, timeout=timeout)

    def payment(self, order_id: str) -> Record:
        """The payment that an app makes for an order, also before its row is there; 404 when there is none."""
        return self._record("GET", f"/payments/{_part(order_id)}")

    # Pages

    def placements(
        self, page: str | None = None, locale: str | None = None, etag: str | None = None
    ) -> tuple[Record | None, str | None]:
        """What apps show on a page, and its ETag: ``scripts, widgets, blocks, hosts``; None if nothing changed."""
        query = {name: value for name, value in (("page", page), ("locale", locale)) if value}
        headers = {"If-None-Match": etag} if etag else None
        response = self._send("GET", "/placements", query=query, headers=headers)
        if response.status_code == 304:
            return None, etag
        return _record_of(response), response.headers.get("ETag")

    # People

    def ticket(self, person: Record, role: str, next_page: str | None = None) -> str:
        """Return the URL that signs a person in, once and within 60 seconds: redirect the browser to it at once.

        ``person`` is ``{"id", "name"}``, and ``"email"`` for notices; ``role`` is OWNER, MANAGER or ORDERS. Call it only for
        somebody who is signed in to your shop. ``next_page`` is what the browser brought; one that the platform doesn't take
        leads to the apps.
        """
        body = {"person": person, "role": role}
        try:
            answer = self._record("POST", "/tickets", body | ({"next": next_page} if next_page else {}))
        except ApiError as error:
            if not next_page or [each.get("field") for each in error.details] != ["next"]:
                raise
            answer = self._record("POST", "/tickets", body)
        return str(answer["url"])

    def end_person(self, person_id: str) -> None:
        """End a person's sessions and tickets, known or not."""
        self._send("DELETE", f"/people/{_part(person_id)}")

    def erase_customer(self, *, email: str | None = None, phone: str | None = None) -> str:
        """Erase a customer here and at the apps, by exactly one of the two; return the erasure's id."""
        asked = {name: value for name, value in (("email", email), ("phone", phone)) if value}
        return str(self._record("POST", "/customers/erase", asked)["erasureId"])

    def erasure(self, erasure_id: str) -> Record:
        """What each app answered to an erasure."""
        return self._record("GET", f"/erasures/{_part(erasure_id)}")

    # HTTP

    def _record(self, method: str, path: str, body: Any = None, *, timeout: float | None = None) -> Record:
        return _record_of(self._send(method, path, body, timeout=timeout))

    def _send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> requests.Response:
        sent = {"Accept": "application/json"} | dict(headers or {})
        content = None
        if body is not None:
            content = to_json(body).encode()
            sent["Content-Type"] = "application/json"
            if len(content) > SMALL:
                content = gzip.compress(content, 1, mtime=0)
                sent["Content-Encoding"] = "gzip"
        try:
            response = self._session.request(
                method,
                f"{self._base_url}/store-api/stores/{_part(self.store)}{path}",
                params=query,
                data=content,
                headers=sent,
                timeout=timeout or self._timeout,
                allow_redirects=False,  # no call redirects, and the key goes nowhere else
            )
        except requests.RequestException as error:
            raise Unreachable(f"no answer from {self._base_url} ({type(error).__name__})") from error
        if not (200 <= response.status_code < 300 or response.status_code == 304):
            raise error_from(response)
        return response


def _record_of(response: requests.Response) -> Record:
    try:
        record = response.json()
    except ValueError:
        record = None
    if not isinstance(record, dict):
        raise ApiError(response.status_code, "the answer is not a JSON object")
    return record


def _part(text: str) -> str:
    return quote(text, safe="")


class _Bearer(AuthBase):
    """Sets the header after everything else: a plain session header would lose to an entry in ``.netrc``."""

    def __init__(self, key: str) -> None:
        self._value = f"Bearer {key}"

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = self._value
        return request
