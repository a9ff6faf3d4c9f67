"""The inventory of scripts on a store's checkout pages. `tests/browser/test_script_inventory.py` compares it with a browser."""

import csv
from datetime import UTC, datetime
from io import StringIO

import pytest
from django.test import Client

from accounts.models import Business, User
from extensions.enums import ExtensionType
from extensions.models import WatchedScript
from extensions.services.extension_states import change_controls
from tests import factories
from tests.extensions.cast import define
from tests.merchants.counting import statements_of
from tests.merchants.pages import installed, listed_app
from tests.pages import HTML, signed_in, words_of

NOW = datetime(2026, 11, 3, 8, 30, tzinfo=UTC)
LATER = datetime(2026, 11, 9, 12, 0, tzinfo=UTC)
URL = "https://stars.example.com/count.js"


def rows_of(browser: Client) -> list[dict[str, str]]:
    response = browser.get("/merchant/scripts/inventory.csv")
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(StringIO(response.content.decode().removeprefix("\ufeff"))))


@pytest.mark.long
def test_inventory_names_whose_why_since_and_what(
    browser: Client, shop: Business, dana: User, sam: User
) -> None:
    shop.timezone = "Europe/Berlin"
    shop.save()
    app = listed_app(dana, [], name="Loyalty Stars", slug="stars")
    define(app, ExtensionType.EMBED, "count", kind="GLOBAL_SCRIPT", position="head", scriptUrl=URL, name="Counter",
           description="=Counts visits.")  # fmt: skip
    define(app, ExtensionType.EMBED, "chat", description="Answers questions.")
    off = define(
        app, ExtensionType.EMBED, "off", kind="GLOBAL_SCRIPT", position="head", scriptUrl=f"{URL}?off"
    )
    installation = installed(app, shop, now=NOW)
    change_controls(installation=installation, switched={off.pk: False})
    elsewhere = listed_app(sam, [], name="Elsewhere")
    define(
        elsewhere,
        ExtensionType.EMBED,
        "x",
        kind="GLOBAL_SCRIPT",
        position="head",
        scriptUrl="https://x.example/x.js",
    )
    installed(elsewhere, factories.business(factories.merchant("nora@example.com")))
    WatchedScript.objects.create(
        app=app, url=URL, due_at=NOW, in_force_since=NOW, seen_at=LATER, changed_at=LATER, size=12,
        digests={"sha256": "ab" * 32}, problem="the server responded 503", problem_since=LATER,
    )  # fmt: skip

    *own, counter, chat = rows_of(browser)
    assert {row["Whose"] for row in own} == {"Extension Platform"}
    assert all(len(row["SHA-256"]) == 64 and row["Why"] for row in own)
    assert counter == {
        "Kind": "Script", "Address": URL, "Name": "Counter", "Whose": "Loyalty Stars", "Why": "'=Counts visits.",
        "Since": "2026-11-03 09:30:00+01:00", "SHA-256": "ab" * 32, "Pinned to": "", "Bytes": "12",
        "Last change": "2026-11-09 13:00:00+01:00", "Last look": "2026-11-09 13:00:00+01:00",
        "State": "Not reached at the last look: the server responded 503",
    }  # fmt: skip
    assert (chat["Kind"], chat["Why"], chat["SHA-256"]) == ("Frame", "Answers questions.", "")
    page = words_of(browser.get("/merchant/scripts/", **HTML))
    for words in ("Counter", URL, "ab" * 32, "Answers questions.", "3 Nov 2026, 09:30", "9 Nov 2026, 13:00"):
        assert words in page
    assert "x.example" not in page
    assert "?off" not in page
    assert statements_of(browser, "/merchant/scripts/") <= 15

    paused = client_after_pause(browser, installation.pk)
    assert "Loyalty Stars" not in {row["Whose"] for row in rows_of(paused)}


def client_after_pause(browser: Client, installation: object) -> Client:
    assert browser.post(f"/merchant/apps/{installation}/pause/").status_code == 302
    return browser


def test_strangers_see_no_inventory(shop: Business, dana: User) -> None:
    assert Client().get("/merchant/scripts/").status_code == 302
    own = rows_of(signed_in(dana))
    assert {row["Whose"] for row in own} == {"Extension Platform"}
    assert all(f"{shop.slug}" not in row["Address"] for row in own)
