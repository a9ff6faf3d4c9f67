"""What the app's own pages have in common: the document around them, and its headers."""

from __future__ import annotations

from html import escape

PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "same-origin",  # with no-referrer, browsers would send `Origin: null` with the forms
    "Cache-Control": "no-store",
}


def render_document(title: str, body: str, script: str = "") -> str:
    """An HTML document in light and dark; ``script`` is a module's address."""
    module = f'<script type="module" src="{script}"></script>\n' if script else ""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<link rel="icon" href="/static/bell.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/app.css">
{module}</head>
<body>
{body}
</body>
</html>
"""
