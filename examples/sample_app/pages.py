"""The app's one page. Every value that came from outside goes through ``escape``."""

from __future__ import annotations

from html import escape

from .app import App, Notice, store_name
from .connections import Connection
from .rows import render_row


def render_page(app: App, notice: Notice | None) -> str:
    """The whole page; its script replaces ``#stores`` and adds to ``#received`` when the version changes."""
    connections = app.connections.active()
    by_webhook = {connection.webhook_id: connection for connection in connections}
    calls = app.inbox.newest_first()
    rows = "".join(render_row(call, by_webhook.get(call.webhook_id or "")) for call in calls)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Order Bell</title>
<link rel="icon" href="/static/bell.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/app.css">
<script type="module" src="/static/app.js"></script>
</head>
<body>
<header class="bar">
<img src="/static/bell.svg" alt="" width="32" height="32">
<div>
<h1>Order Bell</h1>
<p>A sample app by Northwind Apps. It shows every webhook that connected stores send.</p>
</div>
</header>
<main>
{_notice(notice) if notice else ""}
<div class="columns">
<div class="side">
<section aria-labelledby="stores-title">
<h2 id="stores-title">Connected stores</h2>
<div id="stores">{_stores(app, connections)}</div>
</section>
<section aria-labelledby="connect-title">
<h2 id="connect-title">Connect a store</h2>
{_connect_form(app, "plain" if connections else "primary")}
</section>
</div>
<section aria-labelledby="received-title">
<div class="head">
<h2 id="received-title">Webhooks received</h2>
<p class="soft" id="live" role="status">Reload the page to see new ones.</p>
</div>
<p class="empty" id="empty"{" hidden" if calls else ""}>Nothing has arrived yet. {_first_step(connections)}</p>
<ol id="received" data-version="{escape(app.version)}">{rows}</ol>
</section>
</div>
</main>
<footer>
<p>Every call is checked: its signature, and that it was sent less than 5 minutes ago.
The newest 200 are kept, and also as <a href="/received.json">JSON</a>.
This app is an example to copy; its source is in <code>examples/sample_app</code>.</p>
</footer>
</body>
</html>
"""


def _notice(notice: Notice) -> str:
    kind = "good" if notice.good else "bad"
    return (
        f'<div class="notice {kind}" role="{"status" if notice.good else "alert"}">'
        f"<strong>{escape(notice.title)}</strong><p>{escape(notice.text)}</p></div>"
    )


def _stores(app: App, connections: list[Connection]) -> str:
    note = f'<p class="waiting">{escape(app.start.note)}</p>' if app.start.note else ""
    if connections:
        first, *others = connections
        return note + _store(app, first, "primary") + "".join(_store(app, each, "plain") for each in others)
    return note or '<p class="empty">No store yet. Connect one with its access token.</p>'


def _store(app: App, connection: Connection, look: str) -> str:
    mark = '<span class="pill test">Test install</span>' if connection.is_test_install else ""
    missing = ""
    if connection.events_without_scope:
        names = ", ".join(f"<code>{escape(name)}</code>" for name in connection.events_without_scope)
        missing = f'<p class="small">Not sent until the app has the scope for them: {names}</p>'
    return f"""
<article class="store">
<h3>{escape(store_name(connection))} {mark}</h3>
{missing}
{_button(app, connection, "/sample-order", "Place a sample order", look)}
<div class="more">
{_button(app, connection, "/test-event", "Send a test event", "quiet")}
{_button(app, connection, "/disconnect", "Disconnect", "quiet")}
</div>
<details><summary>Ids</summary>
<dl>
<div><dt>Business</dt><dd><code>{escape(connection.business_id)}</code></dd></div>
<div><dt>Webhook</dt><dd><code>{escape(connection.webhook_id)}</code></dd></div>
</dl>
</details>
</article>"""


def _button(app: App, connection: Connection, action: str, label: str, look: str) -> str:
    return f"""<form method="post" action="{action}">{_csrf(app)}
<input type="hidden" name="installation" value="{escape(connection.installation_id)}">
<button class="{look}">{label}<span class="unseen"> for {escape(store_name(connection))}</span></button>
</form>"""


def _connect_form(app: App, look: str) -> str:
    return f"""<form method="post" action="/connect" class="connect">{_csrf(app)}
<label for="access-token">Access token</label>
<p class="small" id="token-help">From a test install of your app in the developer portal.
It begins with <code>fbat_</code>.</p>
<input id="access-token" name="access_token" type="password" required autocomplete="off" spellcheck="false"
 aria-describedby="token-help">
<button class="{look}">Connect</button>
</form>"""


def _csrf(app: App) -> str:
    return f'<input type="hidden" name="csrf" value="{app.guard.token}">'


def _first_step(connections: list[Connection]) -> str:
    return "Place a sample order to see the first." if connections else "Connect a store to begin."
