"""Reading installations."""

from accounts.models import User
from installations.models import Installation
from marketplace.models import App


def sandbox_installation(*, app: App, developer: User) -> Installation | None:
    """The active installation of an app on the developer's own sandbox."""
    return (
        Installation.objects.active()
        .with_app()
        .filter(app=app, business__owner=developer, business__is_sandbox=True)
        .first()
    )
