"""The pages that the platform shows in frames: a block, a widget and the admin page.

Each is an empty shell. Its script gets settings from the store's page around it, or the merchant's session token, and
then asks this app for data.
"""

from __future__ import annotations

from html import escape

RECENT_ORDERS = """<section id="block" hidden>
<h1 id="title"></h1>
<ul id="orders" class="goods" aria-live="polite"></ul>
<p id="empty" class="soft" hidden>No orders yet. The first one rings the bell.</p>
<p id="more" hidden><a id="link" target="_blank" rel="noopener"></a></p>
</section>"""

RING_US = """<div id="widget" hidden>
<div id="answer" class="answer" role="status"></div>
<button id="ring" type="button"><img src="/static/bell.svg" alt="" width="24" height="24"><span id="label"></span></button>
</div>"""

OVERVIEW = """<p id="state" class="soft" role="status">Waiting for the platform to say who is looking…</p>
<div id="overview" hidden>
<p id="problem" class="problem" hidden></p>
<div class="cards">
<section aria-labelledby="today-title">
<h2 id="today-title">Orders of today</h2>
<p class="figure" id="total"></p>
<ul id="today" class="rows"></ul>
</section>
<section aria-labelledby="received-title">
<h2 id="received-title">Webhooks received</h2>
<ul id="received" class="rows"></ul>
</section>
<section aria-labelledby="rings-title">
<h2 id="rings-title">Rings of the bell</h2>
<ul id="rings" class="rows"></ul>
</section>
<section aria-labelledby="rules-title">
<h2 id="rules-title">Your rules at the checkout</h2>
<ul id="rules" class="rows"></ul>
<p class="soft">Change them in the settings of Order Bell.</p>
</section>
</div>
</div>"""


def frame_headers(platform_origin: str, stores_origin: str) -> dict[str, str]:
    """Of a page that only the platform and its stores may frame; there is no ``X-Frame-Options``, which knows no such thing."""
    return {
        "Content-Security-Policy": (
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
            f"form-action 'none'; base-uri 'none'; frame-ancestors {platform_origin} {stores_origin}"
        ),
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
    }


def render_frame(title: str, script: str, main: str, platform_origin: str, stores_origin: str) -> str:
    """The page whose script is ``/static/<script>``. It learns from here whose messages it may believe."""
    return f"""<!doctype html>
<html lang="en" data-platform="{escape(platform_origin)}" data-stores="{escape(stores_origin)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<link rel="icon" href="/static/bell.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/frame.css">
<script type="module" src="/static/{script}"></script>
</head>
<body>
<main>
{main}
</main>
<noscript><p>This part of Order Bell needs JavaScript.</p></noscript>
</body>
</html>
"""
