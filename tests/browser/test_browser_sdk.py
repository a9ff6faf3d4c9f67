"""The browser SDK in a frame, with a page of the test around it instead of a store."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, ConsoleMessage

from .app_site import AppSite

AROUND = b"""<!doctype html><title>Store</title><script>
addEventListener("message", (event) => event.source.postMessage(
  { type: "SERVICE_BLOCK_INIT", blockId: "b", settings: { title: "Hello" } }, "*"));
</script><iframe src="http://localhost:PORT/block"></iframe>"""


@pytest.fixture
def app_site() -> Iterator[AppSite]:
    """The same server is the app on `localhost`, and on 127.0.0.1 the page around it."""
    with AppSite("http://platform.example", "STORES") as app_site:
        port = app_site.url.rpartition(":")[2]
        app_site.pages["/around"] = ("text/html", AROUND.replace(b"PORT", port.encode()))
        app_site.pages["/block"] = (
            "text/html",
            app_site.pages["/block"][1].replace(b'storesOrigin: "STORES", ', b""),
        )
        yield app_site


def test_block_without_the_origin_of_stores_says_so_and_breaks_nothing(
    chromium: Browser, app_site: AppSite
) -> None:
    page = chromium.new_page()
    errors: list[str] = []
    said: list[ConsoleMessage] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: said.append(message))
    page.goto(app_site.url.replace("localhost", "127.0.0.1") + "/around")
    frame = page.frames[1]
    frame.wait_for_function("window.block")
    # The answer of the page around has arrived once a later message has.
    frame.evaluate(
        "new Promise((done) => { addEventListener('message', done); window.block.resize(100); })",
    )
    assert errors == []
    assert [each.text for each in said if each.type == "warning" and "storesOrigin" in each.text]
    assert frame.evaluate("window.heard") == []
    page.close()
