"""The lock on an app's row, which every change of an app acquires before any other lock."""

from common.db.finders import get_or_not_found
from marketplace.models import App


def lock_app(app: App) -> App:
    """The current row of the app, locked. Others may still reference it (`no_key`).

    Raises `NotFound` if its developer has deleted it.
    """
    return get_or_not_found(App.objects.live().select_for_update(no_key=True), app.pk, "App not found")
