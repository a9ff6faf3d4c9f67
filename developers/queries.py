"""A developer's own apps. Everybody else's do not exist here."""

from accounts.models import User
from common.errors import NotFound
from common.ids import parse_id
from marketplace.models import App, AppQuerySet


def own_apps(developer: User) -> AppQuerySet:
    """Newest first, with what an answer about an app reads."""
    return (
        App.objects.of_developer(developer).select_related("approved_version").order_by("-created_at", "-id")
    )


def own_app(developer: User, app_id: str) -> App:
    """Raises `NotFound`: no id at all, another developer's app, or a deleted one."""
    parsed = parse_id(app_id)
    found = own_apps(developer).filter(pk=parsed).first() if parsed else None
    if found is None:
        raise NotFound("App not found")
    return found
