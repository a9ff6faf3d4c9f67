"""Test installs: a developer's own app on the developer's sandbox store, without review."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from accounts.models import Business, User
from accounts.services.confirmation import require_confirmed
from common.errors import Conflict
from installations.models import Installation
from installations.queries import sandbox_installation
from installations.services import lifecycle
from installations.services.lifecycle import Issued, working_copy_terms
from marketplace.models import App
from marketplace.services.locks import lock_app, require_not_suspended


@transaction.atomic
def test_install(
    *, app: App, developer: User, scopes: Sequence[str] | None = None, now: datetime | None = None
) -> Issued:
    """Install the working copy on the developer's sandbox store, in any status of the app. `scopes` limits the scopes.

    If it is installed already, the installation and its webhook secret stay and the token is new. An installation that
    an approval converted becomes a test install again. Raises `NotFound` for an app that is not the developer's, `Conflict`
    while the app is suspended, `NotAllowed` until the developer's address is confirmed.
    """
    require_confirmed(developer)
    own = lock_app(app, developer=developer)
    require_not_suspended(
        own, "The app is suspended. It can be installed again once a reviewer lifts the suspension."
    )
    business, terms = Business.objects.sandbox_of(developer), working_copy_terms(own, scopes)
    return lifecycle.install(app=own, business=business, installed_by=developer, terms=terms, now=now)


@transaction.atomic
def test_uninstall(*, app: App, developer: User, now: datetime | None = None) -> Installation:
    """Uninstall the app from the developer's sandbox store, also if it was installed through OAuth.

    Raises `Conflict` if the app is not installed there.
    """
    installation = sandbox_installation(app=app, developer=developer)
    if installation is None:
        raise Conflict("The app is not installed on your sandbox.", code="not_on_sandbox")
    return lifecycle.uninstall(installation=installation, by=developer, now=now)
