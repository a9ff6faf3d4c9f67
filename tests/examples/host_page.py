"""A page of the platform around the sample app's frames, with the platform's own scripts and a policy as strict as its."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from playwright.sync_api import Page

from common.web.sheets import script_text
from extensions.definitions import SANDBOX

from .driver import ROOT
from .stores import Store

STATIC = ROOT / "static"


def open_host(page: Page, store: Store, body: str) -> None:
    """Show `body` as a page on the platform's origin."""
    policy = (
        f"default-src 'none'; script-src 'self' {store.app.url}; style-src 'self'; frame-src {store.app.url}; "
        "connect-src 'self'"
    )
    names = ("blocks", "admin_page")
    for name in names:
        store.platform.pages[f"/{name}"] = {"Content-Type": "text/javascript"}, script_text(name).encode()
    store.platform.pages["/tokens.css"] = (
        {"Content-Type": "text/css"},
        (STATIC / "css/tokens.css").read_bytes(),
    )
    head = '<link rel="stylesheet" href="/tokens.css">'
    head += "".join(f'<script src="/{name}"></script>' for name in names)
    document = (
        f'<!doctype html><html lang="en"><head><title>Host</title>{head}</head><body>{body}</body></html>'
    )
    headers = {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy}
    store.platform.pages["/host"] = headers, document.encode()
    page.goto(f"{store.platform.url}/host")


def block_frame(store: Store, path: str, settings: dict[str, Any], locale: str = "en") -> str:
    """A block or a widget as the storefront frames it."""
    return (
        f'<iframe title="App" width="600" height="200" sandbox="{SANDBOX}" data-block="block-1" '
        f'data-origin="{store.app.url}" data-settings="{escape(json.dumps(settings))}" '
        f'src="{store.app.url}{path}?businessId={store.business_id}&amp;locale={locale}"></iframe>'
    )


def admin_frame(store: Store, **said: str) -> str:
    """The admin page as the merchant's area frames it; `said` changes its messages."""
    init = {
        "businessId": store.business_id,
        "businessName": "Harbour Bakery",
        "role": "MERCHANT",
        "locale": "en",
        "sessionToken": store.platform.session_token(store.token),
        **said,
    }
    return (
        f'<iframe title="App" width="900" height="700" sandbox="{SANDBOX}" data-admin-page '
        f'data-origin="{store.app.url}" data-init="{escape(json.dumps(init))}" data-token="/none" '
        f'src="{store.app.url}/admin/overview?businessId={store.business_id}&amp;locale=en"></iframe>'
    )


def script_tag(store: Store, settings: str) -> str:
    """The global script as the storefront carries it."""
    return (
        f'<script async src="{store.app.url}/embed/announcement.js" data-app="order-bell" '
        f'data-business-id="{store.business_id}" data-settings="{escape(settings)}"></script>'
    )
