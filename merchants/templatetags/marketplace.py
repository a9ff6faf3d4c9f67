"""What an app may see and change, in words: `{% load marketplace %}`."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django import template
from django.contrib.auth.models import AnonymousUser

from accounts.models import Business, User
from extensions.enums import ExtensionType
from extensions.models import LiveDefinition
from installations.models import Installation
from marketplace.listing import authorize_address
from marketplace.models import App
from marketplace.scopes import SCOPES, Scope, in_order

register = template.Library()

# What a scope is about where its name is not the word for it.
NOUNS = {"analytics": "sales figures", "business": "store details"}


@register.filter
def access_in_short(scopes: Sequence[str]) -> str:
    """For a card: `Reads products, orders; changes orders`."""
    chosen = _chosen(scopes)
    parts = (
        ("reads", [_noun(scope) for scope in chosen if not scope.writes]),
        ("changes", [_noun(scope) for scope in chosen if scope.writes]),
    )
    words = "; ".join(f"{verb} {', '.join(nouns)}" for verb, nouns in parts if nouns)
    return words[:1].upper() + words[1:]


@register.filter
def access_sentences(scopes: Sequence[str]) -> list[str]:
    """What the scopes let an app do, in the table's order."""
    return [scope.sentence for scope in _chosen(scopes)]


def _chosen(scopes: Sequence[str]) -> list[Scope]:
    return [SCOPES[name] for name in in_order(scopes)]


def _noun(scope: Scope) -> str:
    noun = scope.name.partition("_")[2]
    return NOUNS.get(noun, noun)


@register.simple_tag
def installed_among(user: User | AnonymousUser, apps: Iterable[App]) -> set[UUID]:
    """The ids of those apps that the person has on a business, or on the sandbox."""
    if not isinstance(user, User) or not apps:
        return set()
    own = Installation.objects.active().filter(business__owner=user, app__in=[app.pk for app in apps])
    return set(own.values_list("app_id", flat=True))


@register.simple_tag
def at_checkout_among(apps: Iterable[App]) -> set[UUID]:
    """The ids of those apps' approved versions that have a hook. One query."""
    versions = [app.approved_version_id for app in apps]
    hooks = LiveDefinition.objects.filter(version__in=versions, definition__type=ExtensionType.HOOK)
    return set(hooks.filter(definition__is_active=True).values_list("version_id", flat=True))


@register.inclusion_tag("merchants/marketplace/install_panel.html", takes_context=True)
def install_panel(context: dict[str, Any], app: App) -> dict[str, Any]:
    """The install button, a link to the existing installation, or a sentence for people who can't install.

    A test install of the developer's own app uses the working copy and its Redirect URL (contract, section 3).
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
