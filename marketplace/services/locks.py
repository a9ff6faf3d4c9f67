"""The lock that every change of an app begins with, and that is taken before any other row's."""

from common.errors import NotFound
from marketplace.models import App


def lock_app(app: App) -> App:
    """The app's row as it is now. Others may point to it meanwhile (`no_key`), but not change it.

    Raises `NotFound` where its developer has deleted it.
    """
    locked = App.objects.live().select_for_update(no_key=True).filter(pk=app.pk).first()
    if locked is None:
        raise NotFound("App not found")
    return locked
