"""What a manifest lacks for a review (contract section 2: "a manifest with hooks and no Webhook URL")."""

from collections.abc import Iterator

from common.errors import ErrorDetail
from extensions.enums import ExtensionType
from extensions.models import Definition
from marketplace.models import App


def hooks_without_url(app: App) -> Iterator[ErrorDetail]:
    """Called with the app's row locked; one query, and only where there is no Webhook URL."""
    if app.webhook_url:
        return
    hooks = Definition.objects.filter(app=app, type=ExtensionType.HOOK, is_active=True)
    if points := ", ".join(hooks.values_list("key", flat=True)):
        message = f"Enter a Webhook URL: the manifest has hooks ({points}), which are called there."
        yield {"field": "webhook_url", "message": message}
