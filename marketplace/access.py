"""Decides what a person may do with an app. No other module compares the developer of an app with a person.

Querysets ask by `App.objects.of`, `developed_by` and `owned_by`.
"""

from django.contrib.auth.models import AnonymousUser

from accounts.models import User
from common.errors import Conflict, NotFound
from marketplace.enums import AppRole
from marketplace.models import App


def role_of(app: App, user: User | AnonymousUser) -> AppRole | None:
    """The person's role on the app. None for everyone who isn't a member, and for visitors."""
    return AppRole.OWNER if app.developer_id == user.pk else None


def may_develop(app: App, user: User | AnonymousUser) -> bool:
    """Whether the person may change the app and test-install its working copy."""
    return role_of(app, user) in (AppRole.OWNER, AppRole.DEVELOPER)


def require_developer(app: App, user: User) -> None:
    """Raise `NotFound` for an app that the person may not change."""
    if not may_develop(app, user):
        raise NotFound("App not found")


def require_not_a_member(app: App, reviewer: User) -> None:
    """Raise `Conflict` for a reviewer's own app."""
    if role_of(app, reviewer) is not None:
        raise Conflict("This app is your own. Another reviewer has to decide on it.")


def people_to_notify(app: App) -> list[User]:
    """Those who get mails about the app, if they want them (`accounts.services.profile.wants_mail`)."""
    return [app.developer]
