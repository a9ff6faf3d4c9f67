"""The addresses of apps: of their iframes and hooks, and the origins that messages and policies name."""

from urllib.parse import urlencode, urlsplit, urlunsplit

from accounts.models import Business
from common.url_policy import host_of

SANDBOX = "allow-scripts allow-same-origin allow-forms allow-popups"
"""Of every app's iframe (service interface, "Admin page iframe contract"; contract section 6, "Host pages")."""


def frame_url(render_url: str, business: Business) -> str:
    """An iframe's address: the app's, with `businessId` and `locale` added to its query."""
    parts = urlsplit(render_url)
    added = urlencode({"businessId": str(business.pk), "locale": business.locale})
    query = f"{parts.query}&{added}" if parts.query else added
    return urlunsplit(parts._replace(query=query))


def hook_address(webhook_url: str, path: str) -> str:
    """Where a hook is called: its path behind that of the Webhook URL, with exactly one slash between (contract section 9)."""
    parts = urlsplit(webhook_url)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{path.lstrip('/')}"))


def origin_of(url: str) -> str:
    """Scheme, host and port, as browsers compare them and as `event.origin` and policies name them: ASCII alone."""
    parts = urlsplit(url)
    host = host_of(url)
    host = f"[{host}]" if ":" in host else host
    default = {"https": 443, "http": 80}.get(parts.scheme)
    port = f":{parts.port}" if parts.port and parts.port != default else ""
    return f"{parts.scheme}://{host}{port}"
