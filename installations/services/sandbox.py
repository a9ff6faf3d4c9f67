"""Test installs: of developers on their sandbox stores, without review, and of a reviewer on a store that ends with the review."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from accounts.models import Business, User
from accounts.services.businesses import create_business
from accounts.services.confirmation import require_confirmed
from common.errors import Conflict
from installations.models import Installation
from installations.queries import review_installation, sandbox_installation
from installations.services import lifecycle
from installations.services.lifecycle import Issued, working_copy_terms
from marketplace.enums import AppStatus
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


@transaction.atomic
def review_install(
    *, app: App, reviewer: User, scopes: Sequence[str] | None = None, now: datetime | None = None
) -> Issued:
    """Install what is in review on the reviewer's test store, which is made if there is none. `scopes` limits the scopes.

    If it is installed already, the installation stays and the token is new. Raises `Conflict` for an app that isn't in
    review, and for one that is suspended.
    """
    locked = lock_app(app)
    if locked.status != AppStatus.PENDING_REVIEW:
        raise Conflict("The app is not in review.", code="not_in_review")
    require_not_suspended(locked, "The app is suspended, so it can't be installed.")
    terms = working_copy_terms(locked, scopes, is_review=True)
    return lifecycle.install(
        app=locked, business=_store_of(reviewer), installed_by=reviewer, terms=terms, now=now
    )


@transaction.atomic
def review_uninstall(*, app: App, reviewer: User, now: datetime | None = None) -> None:
    """End the reviewer's test install. Changes nothing if there is none."""
    installation = review_installation(app=app, reviewer=reviewer)
    if installation is not None:
        lifecycle.uninstall(installation=installation, by=reviewer, now=now)


def end_of_review(*, app: App, now: datetime) -> None:
    """End every reviewer's test install of an app, in the transaction of the decision. A check ends its own."""
    for installation in Installation.objects.active().filter(
        app=app, is_review=True, business__expires_at=None
    ):
        lifecycle.uninstall(installation=installation, now=now)


def _store_of(reviewer: User) -> Business:
    """The reviewer's sandbox store. The lock on the person keeps two presses from making two."""
    User.objects.select_for_update(no_key=True).get(pk=reviewer.pk)
    store = Business.objects.sandboxes_of(reviewer).first()
    if store is None:
        store = create_business(owner=reviewer, name=f"{reviewer.name[:90]}'s test store", is_sandbox=True)
    return store
