"""URLs of apps: of their iframes and hooks."""

from urllib.parse import urlsplit, urlunsplit

from accounts.models import Business
from common.http.queries import with_parameters

SANDBOX = "allow-scripts allow-same-origin allow-forms allow-popups"
"""The sandbox attributes of every app's iframe (specification, "Admin page iframe contract"; contract, section 6, "Host pages")."""


def frame_url(render_url: str, business: Business) -> str:
    """An iframe's URL: the app's, with `businessId` and `locale` added to its query."""
    return with_parameters(render_url, [("businessId", str(business.pk)), ("locale", business.locale)])


def hook_address(webhook_url: str, path: str) -> str:
    """A hook's URL: the Webhook URL and the hook's path, with exactly one slash between (contract, section 9)."""
    parts = urlsplit(webhook_url)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{path.lstrip('/')}"))
