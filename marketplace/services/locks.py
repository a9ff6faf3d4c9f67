"""The lock on an app's row, which every change of an app acquires before any other lock.

Everywhere, locks are taken in the order authorization code, app, submission or version, business, installation. A transaction
that goes against it, and only waits for another, may stop both forever.
"""

from accounts.models import User
from common.db.rows import get_or_not_found
from common.errors import Conflict
from marketplace.models import App


def lock_app(app: App, *, developer: User | None = None) -> App:
    """The current row of the app, locked. Others may still reference it (`no_key`).

    Raises `NotFound` if its developer has deleted it, or if `developer` may not change it.
    """
    apps = App.objects.live() if developer is None else App.objects.developed_by(developer)
    return get_or_not_found(apps.select_for_update(no_key=True), app.pk, "App not found")


def require_not_suspended(app: App, message: str = "The app is suspended.") -> None:
    """Raise `Conflict` with `message` while a reviewer has suspended the app."""
    if app.suspended_at is not None:
        raise Conflict(message, code="app_suspended")
