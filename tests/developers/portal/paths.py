"""Paths of the portal."""

from marketplace.models import App


def pages_of(app: App) -> list[str]:
    start = f"/portal/apps/{app.slug}"
    endings = [
        "/", "/details/", "/details/pictures/", "/credentials/", "/credentials/regenerate/", "/test/", "/test/uninstall/", "/delete/",
    ]  # fmt: skip
    return [start + ending for ending in endings]


def at(app: App, path: str = "") -> str:
    return f"/portal/apps/{app.slug}/webhooks/{path}"
