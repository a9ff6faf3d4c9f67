"""The browser of tests and pictures, and what must never happen on any page."""

from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, Playwright, expect

from tests.plugins.services import browser

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


PATIENCE = 30_000  # ms for whatever a page does; long enough for a busy machine
expect.set_options(timeout=PATIENCE)


def launch(playwright: Playwright) -> Browser:
    return playwright.chromium.launch(executable_path=browser(), args=list(FLAGS))


HARMLESS = (
    "Failed to load resource",  # repeats the status of a page that is meant to be an error page
    "can escape its sandboxing",  # of a store's page with scripts: its sandbox is a header, which no script removes
)


class Watch:
    """Collects a page's `problems`: errors and warnings of its console, and requests to other hosts than those of the
    given origins."""

    def __init__(self, page: Page, *origins: str) -> None:
        self.problems: list[str] = []
        self.hosts = {urlsplit(origin).netloc for origin in origins}
        page.on("console", lambda message: self._said(message.type, message.text))
        page.on("pageerror", lambda error: self.problems.append(f"script error: {error}"))
        page.on("request", lambda request: self._asked(request.url))

    def _said(self, kind: str, text: str) -> None:
        if kind in ("error", "warning") and not any(part in text for part in HARMLESS):
            self.problems.append(f"console {kind}: {text}")

    def _asked(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.netloc not in self.hosts:
            self.problems.append(f"request to another host: {url}")


def overflow(page: Page) -> int:
    """By how many pixels the page is wider than its window."""
    pixels: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return pixels
