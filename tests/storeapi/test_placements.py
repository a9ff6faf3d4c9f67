"""What apps show on a shop's pages: by key, and for the pages themselves (contract, section 17, "Placements")."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Business, ConnectedStore
from accounts.services.shops import Connected
from extensions.enums import ExtensionType
from extensions.in_store.placements import PUBLIC_A_MINUTE
from extensions.models import Definition, ExtensionState, LiveDefinition, Placement
from extensions.services.extension_states import add_block, change_controls, save_embed_settings
from installations.models import Installation
from installations.services import pause, resume, uninstall
from marketplace.models import App
from stores.connected.stores import end_store, open_store
from stores.models import SitePage
from tests import factories
from tests.extensions.cast import define

from .rows import MAIN, put

pytestmark = pytest.mark.django_db

SHOP = "https://northwind.example"
SCHEMA = {"type": "object", "properties": {"title": {"type": "string", "default": "Stars"}}}
NOTHING: dict[str, Any] = {
    "scripts": [], "widgets": [], "blocks": [], "hosts": {"scripts": [], "frames": []},
}  # fmt: skip


@pytest.fixture
def app() -> App:
    app = factories.app(factories.developer("dana@example.com"), name="Stars", slug="stars")
    factories.approve(app)
    block, widget, script = (
        "https://blocks.example/b?x=1",
        "https://chat.example/w",
        "https://js.example/s.js",
    )
    define(app, ExtensionType.BLOCK, "stars", renderUrl=block, settingsSchema=SCHEMA)
    define(app, ExtensionType.EMBED, "chat", renderUrl=widget, settingsSchema=SCHEMA)
    define(
        app, ExtensionType.EMBED, "stats", kind="GLOBAL_SCRIPT", position="head", scriptUrl=script, integrity="sha384-x",
    )  # fmt: skip
    return app


@pytest.fixture
def shown(store: ConnectedStore, app: App, shop: Client) -> Installation:
    """The app on the store, with its block on the page `about`."""
    ConnectedStore.objects.update(storefront_url=f"{SHOP}/start", storefront_origins=["https://m.example"])
    installation = factories.installation(app, store.business)
    assert put(shop, "pages/p-1", slug="about").status_code == 200
    add_block(page=SitePage.objects.get(), installation=installation, definition=block_of(app), settings={})
    return installation


def block_of(app: App) -> Definition:
    return Definition.objects.get(app=app, type=ExtensionType.BLOCK)


def block_id(business: Business) -> Any:
    return Placement.objects.get(page__business=business).pk


def by_key(shop: Client, query: str = "?page=about") -> Any:
    return shop.get(f"{MAIN}/placements{query}")


def public(business: Business, query: str = "?page=about", **headers: str) -> Any:
    return Client().get(f"/placements/{business.pk}{query}", headers=headers)


def test_both_calls_say_what_the_page_shows(shop: Client, app: App, shown: Installation) -> None:
    business, embed = shown.business, Definition.objects.get(app=app, key="chat")
    save_embed_settings(installation=shown, definition=embed, settings={"title": "Ask us"})
    named = {"id": str(app.pk), "slug": "stars", "name": "Stars"}
    where = f"businessId={business.pk}&locale=en"
    expected = {
        "scripts": [
            {
                "src": "https://js.example/s.js", "integrity": "sha384-x", "position": "head", "app": named, "settings": {},
            }
        ],
        "widgets": [
            {
                "id": str(embed.pk), "src": f"https://chat.example/w?{where}", "position": "bottom_right",
                "settings": {"title": "Ask us"}, "app": named,
            }
        ],
        "blocks": [
            {
                "id": str(block_id(business)), "src": f"https://blocks.example/b?x=1&{where}",
                "settings": {"title": "Stars"}, "maxHeight": 400, "app": named,
            }
        ],
        "hosts": {
            "scripts": ["https://js.example"], "frames": ["https://blocks.example", "https://chat.example"],
        },
    }  # fmt: skip
    keyed, open_ = by_key(shop), public(business)
    assert keyed.json() == open_.json() == expected
    assert keyed["ETag"] == open_["ETag"]
    assert (keyed["Cache-Control"], open_["Cache-Control"]) == ("private, max-age=30", "public, max-age=30")
    assert not open_.cookies
    assert "Access-Control-Allow-Origin" not in open_
    unchanged = shop.get(f"{MAIN}/placements?page=about", headers={"if-none-match": keyed["ETag"]})
    assert (unchanged.status_code, unchanged.content) == (304, b"")
    assert public(business, **{"if-none-match": keyed["ETag"]}).status_code == 304


@pytest.mark.parametrize("how", ["switch", "pause", "uninstall", "suspension", "removal of the definition"])
def test_what_is_off_is_not_shown(shop: Client, app: App, shown: Installation, how: str) -> None:
    business = shown.business
    match how:
        case "switch":
            embeds = [each.pk for each in Definition.objects.filter(app=app, type=ExtensionType.EMBED)]
            change_controls(installation=shown, switched=dict.fromkeys(embeds, False))
        case "pause":
            pause(installation=shown, user=business.owner)
        case "uninstall":
            uninstall(installation=shown)
        case "suspension":
            App.objects.update(suspended_at=timezone.now())
        case _:
            LiveDefinition.objects.all().delete()
    found = public(business).json()
    if how == "switch":  # blocks aren't switched, but taken off the page
        assert (found["scripts"], found["widgets"], len(found["blocks"])) == ([], [], 1)
        assert found["hosts"] == {"scripts": [], "frames": ["https://blocks.example"]}
    else:
        assert found == NOTHING
    assert by_key(shop).json() == found
    if how == "pause":
        resume(installation=shown, user=business.owner)
        assert len(public(business).json()["blocks"]) == 1


def test_blocks_are_those_of_the_page_that_is_named(shop: Client, shown: Installation) -> None:
    """They follow the row of the page, whatever its slug; hosts are those of the whole site."""
    assert put(shop, "pages/p-2", slug="hours").status_code == 200
    assert put(shop, "pages/p-1", version=2, slug="who-we-are").status_code == 200
    for query in ("", "?page=about", "?page=hours", f"?page={'x' * 200}", "?page=%C3%A4%27%22--"):
        found = public(shown.business, query).json()
        assert (found["blocks"], len(found["scripts"])) == ([], 1), query
        assert found["hosts"]["frames"] == ["https://blocks.example", "https://chat.example"]
    assert len(public(shown.business, "?page=who-we-are").json()["blocks"]) == 1
    for wrong in ("?page=%00", f"?page={'x' * 10_000}"):
        assert [each["field"] for each in public(shown.business, wrong).json()["details"]] == ["page"]
    assert shop.delete(f"{MAIN}/pages/p-1?version=3").status_code == 200
    assert public(shown.business, "?page=who-we-are").json()["blocks"] == []


def test_frames_are_told_the_language_of_the_page(shown: Installation) -> None:
    found = public(shown.business, "?page=about&locale=pt-BR").json()
    assert [each["src"].rpartition("&")[2] for each in (*found["blocks"], *found["widgets"])] == [
        "locale=pt-BR"
    ] * 2
    refused = public(shown.business, "?locale=%3Cb%3E", origin=SHOP)
    assert (refused.status_code, [each["field"] for each in refused.json()["details"]]) == (400, ["locale"])
    assert refused["Access-Control-Allow-Origin"] == SHOP


def test_no_text_of_an_answer_ends_a_script_element(shown: Installation, app: App) -> None:
    evil = "</script><script>alert(1)</script><!--"
    embed = Definition.objects.get(app=app, key="stats")
    ExtensionState.objects.create(installation=shown, definition=embed, settings={"title": evil})
    found = public(shown.business)
    assert found.json()["scripts"][0]["settings"] == {"title": evil}
    assert b"<" not in found.content
    assert (found["Content-Type"], found["X-Content-Type-Options"]) == ("application/json", "nosniff")


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (SHOP, 200), ("https://m.example", 200), ("https://evil.example", 403), ("null", 403), ("*", 403),
        (f"{SHOP}.evil.example", 403), ("http://northwind.example", 403), (f"{SHOP}:8443", 403), (f"{SHOP}/", 403),
    ],
)  # fmt: skip
def test_pages_of_the_stores_own_origins_read_it(shown: Installation, origin: str, status: int) -> None:
    answer = public(shown.business, origin=origin)
    assert (answer.status_code, answer.get("Access-Control-Allow-Origin")) == (
        status,
        origin if status == 200 else None,
    )
    assert "Origin" in answer["Vary"]
    assert "Access-Control-Allow-Credentials" not in answer
    if status == 403:
        assert answer["X-Error-Code"] == "wrong_origin"


def test_stores_without_pages_of_their_own_are_a_404(
    shown: Installation, shop: Client, connected: Connected
) -> None:
    """As are unknown and malformed ids. The answer is one for all."""
    own = factories.business(factories.merchant("mira@example.com"))
    hidden = open_store(
        system=connected.system, external_id="hidden", values={"name": "H", "currency": "USD"}
    )
    unknown = "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a21"
    end_store(system=connected.system, external_id="main")
    answers = [
        Client().get(f"/placements/{each}?page=about", headers={"origin": SHOP})
        for each in (own.pk, hidden.business_id, shown.business_id, unknown, "main", "x" * 5000, "%00")
    ]
    assert {each.status_code for each in answers} == {404}
    assert len({each.json()["message"] for each in answers[:-1]}) == 1
    assert all("Origin" in each["Vary"] and "Access-Control-Allow-Origin" not in each for each in answers)
    assert by_key(shop).status_code == 404


def test_pages_are_counted_by_their_visitors_network_and_never_for_the_connection(
    shown: Installation, shop: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert PUBLIC_A_MINUTE == 600
    monkeypatch.setattr("storeapi.views.placements.PUBLIC_A_MINUTE", 3)
    settings.STORE_API_RATE = 5
    left = [int(by_key(shop)["X-RateLimit-Remaining"]) for _ in range(2)]
    answers = [public(shown.business, origin=SHOP) for _ in range(4)]
    assert [each.status_code for each in answers] == [200, 200, 200, 429]
    assert (answers[3]["X-Error-Code"], int(answers[3]["Retry-After"]) > 0) == ("too_many_attempts", True)
    assert "Origin" in answers[3]["Vary"]
    assert left == [4, 3]
    assert by_key(shop)["X-RateLimit-Remaining"] == "2"
    # Rows have as many again. The page's was the first.
    assert shop.get(MAIN)["X-RateLimit-Remaining"] == "3"
    for _ in range(2):
        by_key(shop)
    refused = by_key(shop)
    assert (refused.status_code, refused["X-RateLimit-Remaining"]) == (429, "0")
    assert shop.get(MAIN).status_code == 200


def test_few_statements_whatever_is_shown(shown: Installation, app: App) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert public(shown.business).status_code == 200
        return len(asked)

    before = statements()
    page = SitePage.objects.get()
    for key in ("a", "b", "c"):
        add_block(
            page=page, installation=shown, definition=define(app, ExtensionType.BLOCK, key), settings={}
        )
        define(app, ExtensionType.EMBED, f"w{key}")
    assert len(public(shown.business).json()["blocks"]) == 4
    assert statements() == before <= 6


def test_script_is_small_and_the_same_for_every_page(client: Client) -> None:
    script = client.get("/store.js")
    assert (script.status_code, script["Content-Type"]) == (200, "text/javascript; charset=utf-8")
    assert 1000 < len(script.content) <= 10_000
    assert script["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert script["Cache-Control"] == "public, max-age=300"
    assert not script.cookies
    assert client.get("/store.js", headers={"if-none-match": script["ETag"]}).status_code == 304
    assert client.post("/store.js").status_code == 405
    assert client.get("/placements/x")["Cross-Origin-Resource-Policy"] == "same-origin"
