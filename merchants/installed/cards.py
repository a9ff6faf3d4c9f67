"""What the marketplace shows of an app to the person who looks: on its card, and beside the install button."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import AnonymousUser

from accounts.models import User
from extensions.enums import ExtensionType
from extensions.models import LiveDefinition
from extensions.reach_requests import open_requests
from installations.models import Installation
from installations.queries import businesses_to_install_on, has_store_without
from marketplace.access import may_develop
from marketplace.listing import authorize_address
from marketplace.models import App

Visitor = User | AnonymousUser


@dataclass(frozen=True, slots=True)
class Card:
    """A listed app. `is_installed`: on one of the person's stores."""

    app: App
    is_installed: bool
    works_at_checkout: bool


def cards_of(apps: Iterable[App], user: Visitor) -> list[Card]:
    """Two statements for any number of apps."""
    apps = list(apps)
    installed: set[UUID] = set()
    if isinstance(user, User):
        own = Installation.objects.active().filter(business__in=businesses_to_install_on(user), app__in=apps)
        installed = set(own.values_list("app_id", flat=True))
    hooks = LiveDefinition.objects.filter(
        version__in=[each.approved_version_id for each in apps],
        definition__type=ExtensionType.HOOK,
    )
    asked = set(hooks.values_list("version_id", flat=True))
    return [Card(each, each.pk in installed, each.approved_version_id in asked) for each in apps]


@dataclass(frozen=True, slots=True)
class InstallPanel:
    """`installations` are the person's, `asking` the ids of those with an open request; `may_install`: on one more store."""

    installations: list[Installation]
    asking: Collection[UUID]
    may_install: bool
    is_own: bool
    authorize_address: str


def install_panel(app: App, user: Visitor) -> InstallPanel:
    """A test install of the developer's own app uses the working copy and its Redirect URL (contract, section 3). Visitors are
    asked to sign in on the way.
    """
    assert app.approved_version is not None, "only listed apps have an install panel"
    installations: list[Installation] = []
    if isinstance(user, User):
        own = Installation.objects.active().with_app().defer("webhook_secret")
        installations = list(own.filter(app=app, business__in=businesses_to_install_on(user)))
    is_own = may_develop(app, user)
    return InstallPanel(
        installations=installations,
        asking=open_requests(installations),
        may_install=not isinstance(user, User) or has_store_without(installations, user),
        is_own=is_own,
        authorize_address=authorize_address(
            app, redirect_url=app.redirect_url if is_own else app.approved_version.redirect_url
        ),
    )
