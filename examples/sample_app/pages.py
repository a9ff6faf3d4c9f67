"""The app's pages. Every value that came from outside goes through ``escape``."""

from __future__ import annotations

from html import escape
from urllib.parse import quote

from extension_platform_sdk import ApiError, PlatformError

from .app import App, Notice, store_name
from .connections import Connection
from .document import render_document
from .inbox import Received
from .products import render_products
from .rows import render_row
from .times import for_people
from .wording import explain


def render_page(app: App, notice: Notice | None) -> str:
    """The front page; its script replaces ``#stores`` and adds to ``#received`` when the version changes."""
    connections = app.connections.active()
    main = f"""
{_notice(notice)}
<div class="columns">
<div class="side">
<section aria-labelledby="stores-title">
<h2 id="stores-title">Connected stores</h2>
<div id="stores">{_stores(app, connections)}{_erased(app)}</div>
</section>
<section aria-labelledby="connect-title">
<h2 id="connect-title">Connect a store</h2>
{_ways_to_connect(app, first=not connections)}
</section>
</div>
{_received(app, app.inbox.newest_first(), _first_step(connections))}
</div>"""
    bar = "<h1>Order Bell</h1>"
    return _document("Order Bell", bar, main)


def render_store(app: App, connection: Connection, notice: Notice | None) -> str:
    """One store's page: its products, read while the page is made, and its webhooks."""
    products = _products(app, connection)  # first, since it may find that the token has ended
    connection = app.connections.of_installation(connection.installation_id) or connection
    calls = [call for call in app.inbox.newest_first() if call.webhook_id == connection.webhook_id]
    title = f"{'Disconnected from' if connection.ended_at else 'Connected to'} {store_name(connection)}"
    main = f"""
<p class="back"><a href="/">All stores</a></p>
<div class="head title"><h1>{escape(title)}</h1>{_marks(connection)}</div>
{_notice(notice)}
<div class="columns">
<div class="side">
<section aria-labelledby="products-title">
<h2 id="products-title">Products</h2>
{products}
</section>
<section aria-labelledby="store-title">
<h2 id="store-title">This store</h2>
{_store_body(app, connection, "primary", back="store")}
</section>
</div>
{_received(app, calls, "Place a sample order to see the first.", store=connection)}
</div>"""
    bar = '<p class="name"><a href="/">Order Bell</a></p>'
    return _document(f"{title} · Order Bell", bar, main)


def _document(title: str, name: str, main: str) -> str:
    body = f"""<header class="bar">
<img src="/static/bell.svg" alt="" width="32" height="32">
<div>
{name}
<p>A sample app by Northwind Apps. It shows every webhook that connected stores send.</p>
</div>
</header>
<main>{main}
</main>
<footer>
<p>Every call is checked: its signature, and that it was sent less than 5 minutes ago.
The newest 200 are kept, and also as <a href="/received.json">JSON</a>.
This app is an example to copy; its source is in <code>examples/sample_app</code>.</p>
</footer>"""
    return render_document(title, body, "/static/app.js")


def _received(app: App, calls: list[Received], first_step: str, store: Connection | None = None) -> str:
    by_webhook = {each.webhook_id: each for each in app.connections.active() if each.webhook_id}
    rows = "".join(render_row(call, by_webhook.get(call.webhook_id or "")) for call in calls)
    only = f' data-webhook="{escape(store.webhook_id)}"' if store else ""
    return f"""<section aria-labelledby="received-title">
<div class="head">
<h2 id="received-title">Webhooks received</h2>
<p class="soft" id="live" role="status">Reload the page to see new ones.</p>
</div>
<p class="empty" id="empty"{" hidden" if calls else ""}>Nothing has arrived yet. {first_step}</p>
<ol id="received" data-version="{escape(app.version)}"{only}>{rows}</ol>
</section>"""


def _notice(notice: Notice | None) -> str:
    if notice is None:
        return ""
    kind = {True: "good", False: "bad", None: "neutral"}[notice.good]
    return (
        f'<div class="notice {kind}" role="{"alert" if notice.good is False else "status"}">'
        f"<strong>{escape(notice.title)}</strong><p>{escape(notice.text)}</p></div>"
    )


def _stores(app: App, connections: list[Connection]) -> str:
    note = f'<p class="waiting">{escape(app.start.note)}</p>' if app.start.note else ""
    if connections:
        main = next((each for each in connections if not each.ended_at), None)
        return note + "".join(
            _store(app, each, "primary" if each is main else "plain") for each in connections
        )
    how = "Install Order Bell on one." if app.installing else "Connect one with its access token."
    return note or f'<p class="empty">No store yet. {how}</p>'


def _store(app: App, connection: Connection, look: str) -> str:
    address = f"/stores/{escape(connection.installation_id)}"
    return f"""
<article class="store">
<h3><a href="{address}">{escape(store_name(connection))}</a> {_marks(connection)}</h3>
{_store_body(app, connection, look)}
</article>"""


def _store_body(app: App, connection: Connection, look: str, back: str = "") -> str:
    """The state of a store and its buttons; ``back`` is the page that a button returns to."""
    if connection.ended_at:
        said = f"""<p class="small">The access token ended. This was noticed on {for_people(connection.ended_at)}.
What is kept of the store is deleted when the platform asks for it, some time after the uninstall.</p>"""
        forget = "" if connection.by_oauth else _button(app, connection, "/disconnect", "Disconnect", "quiet")
        return f'<div class="stack">{said}{forget}{_ids(connection)}</div>'
    missing = ""
    if connection.events_without_scope:
        names = ", ".join(f"<code>{escape(name)}</code>" for name in connection.events_without_scope)
        missing = f'<p class="small">Not sent until the app has the scope for them: {names}</p>'
    leave = "Uninstall" if connection.by_oauth else "Disconnect"
    settings = f"{app.platform.url}/merchant/apps/{quote(connection.installation_id)}/settings/"
    return f"""<div class="stack">{missing}
<p class="small"><a href="{escape(settings)}">Set it up in your store</a>: its prices, and the place of its block.</p>
{_button(app, connection, "/sample-order", "Place a sample order", look, back)}
<div class="more">
{_button(app, connection, "/test-event", "Send a test event", "quiet", back)}
{_button(app, connection, "/disconnect", leave, "quiet")}
</div>
{_ids(connection)}</div>"""


def _ids(connection: Connection) -> str:
    return f"""<details><summary>Ids</summary>
<dl>
<div><dt>Business</dt><dd><code>{escape(connection.business_id)}</code></dd></div>
<div><dt>Installation</dt><dd><code>{escape(connection.installation_id)}</code></dd></div>
<div><dt>Webhook</dt><dd><code>{escape(connection.webhook_id or "not known yet")}</code></dd></div>
</dl>
</details>"""


def _marks(connection: Connection) -> str:
    test = '<span class="pill test">Test install</span>' if connection.is_test_install else ""
    ended = '<span class="pill bad">Uninstalled</span>' if connection.ended_at else ""
    return test + ended


def _erased(app: App) -> str:
    """What is left of stores that were erased: the proof of it."""
    return "".join(
        f"""
<article class="store">
<h3>Erased store</h3>
<p class="small">Deleted on {for_people(each.erased_at or "")}, when the platform asked for it: the access token,
the store’s name, and {each.erased_webhooks} received {"webhook" if each.erased_webhooks == 1 else "webhooks"}.
Kept: the ids, and the secret that verifies a repeat of the request.</p>
{_ids(each)}
</article>"""
        for each in app.connections.erased()
    )


def _products(app: App, connection: Connection) -> str:
    if connection.ended_at:
        return '<p class="empty">The store’s products can’t be read any more.</p>'
    try:
        page = app.platform.products(connection)
    except PlatformError as error:
        if isinstance(error, ApiError) and error.status_code == 401:
            return """<p class="empty">The platform answered 401: the access token has ended, because Order Bell was
uninstalled from this store or installed again.</p>"""
        return f'<p class="empty">{escape(explain(error, app.platform.url))}</p>'
    return render_products(page, connection.currency)


def _button(app: App, connection: Connection, action: str, label: str, look: str, back: str = "") -> str:
    return f"""<form method="post" action="{action}">{_csrf(app)}
<input type="hidden" name="installation" value="{escape(connection.installation_id)}">
<input type="hidden" name="back" value="{back}">
<button class="{look}">{label}<span class="unseen"> for {escape(store_name(connection))}</span></button>
</form>"""


def _ways_to_connect(app: App, *, first: bool) -> str:
    """By OAuth where the app has its client credentials; by the token of a test install always."""
    if app.installing is None:
        return _token_form(app, "primary" if first else "plain")
    return f"""<div class="connect">
<p class="small">You choose the store on the platform, and see there what Order Bell may do.</p>
<a class="button {"primary" if first else "plain"}" href="/install">Install on a store</a>
</div>
<h3 class="or">Or with an access token</h3>
{_token_form(app, "plain")}"""


def _token_form(app: App, look: str) -> str:
    return f"""<form method="post" action="/connect" class="connect">{_csrf(app)}
<label for="access-token">Access token</label>
<p class="small" id="token-help">From a test install of your app in the developer portal.
It begins with <code>fbat_</code>.</p>
<input id="access-token" name="access_token" type="password" required autocomplete="off" spellcheck="false"
 aria-describedby="token-help">
<details><summary>The app’s Webhook URL leads here</summary>
<label for="webhook-secret">Webhook secret</label>
<p class="small" id="secret-help">Of the same test install. It begins with <code>whsec_</code>.</p>
<input id="webhook-secret" name="webhook_secret" type="password" autocomplete="off" spellcheck="false"
 aria-describedby="secret-help">
</details>
<button class="{look}">Connect</button>
</form>"""


def _csrf(app: App) -> str:
    return f'<input type="hidden" name="csrf" value="{app.guard.token}">'


def _first_step(connections: list[Connection]) -> str:
    return "Place a sample order to see the first." if connections else "Connect a store to begin."
