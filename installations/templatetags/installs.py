"""Where the person who looks has an app: `{% load installs %}`, for pages of the marketplace."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django import template
from django.contrib.auth.models import AnonymousUser

from accounts.models import Business, User
from installations.models import Installation
from marketplace.listing import authorize_address
from marketplace.models import App

register = template.Library()


@register.simple_tag
def installed_among(user: User | AnonymousUser, apps: Iterable[App]) -> set[UUID]:
    """The ids of those apps that the person has on a business, or on the sandbox."""
    if not isinstance(user, User) or not apps:
        return set()
    own = Installation.objects.active().filter(business__owner=user, app__in=[app.pk for app in apps])
    return set(own.values_list("app_id", flat=True))


@register.inclusion_tag("installations/install_panel.html", takes_context=True)
def install_panel(context: dict[str, Any], app: App) -> dict[str, Any]:
    """The button that installs an app, or where it stands already; a sentence for who can't install.

    The own developer's test install follows the working copy, its Redirect URL too (contract section 3).
    """
    user = context["request"].user
    version = app.approved_version
    assert version is not None, "only listed apps have an install panel"
    installations = list(_own(user, app)) if user.is_authenticated else []
    is_own = user.is_authenticated and app.developer_id == user.pk
    return {
        "user": user,
        "app": app,
        "version": version,
        "installations": installations,
        "may_install": _may_install(user, installations),
        "is_own": is_own,
        "authorize_address": authorize_address(
            app, redirect_url=app.redirect_url if is_own else version.redirect_url
        ),
    }


def _own(user: User, app: App) -> Iterable[Installation]:
    return Installation.objects.active().filter(app=app, business__owner=user).select_related("business")


def _may_install(user: User | AnonymousUser, installations: list[Installation]) -> bool:
    """Whether there is a business left to install on. Visitors are asked to sign in on the way."""
    if not isinstance(user, User):
        return True
    if user.is_developer:
        return not installations
    return user.is_merchant and Business.objects.owned_by(user).count() > len(installations)
