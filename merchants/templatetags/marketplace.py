"""What an app may see and change, in words: `{% load marketplace %}`."""

from collections.abc import Sequence
from textwrap import shorten

from django import template

from installations.models import Trial
from marketplace.listing import authorize_address
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
def cut(text: str, most: int) -> str:
    """At most so many characters, cut between words where there are any."""
    whole = " ".join(text.split())
    return (
        whole
        if len(whole) <= most
        else shorten(whole, most, placeholder="…")
        if " " in whole[:most]
        else f"{whole[: most - 1]}…"
    )


@register.filter
def install_after_trial(trial: Trial) -> str:
    """Where the app that is tried asks to be installed in the store itself."""
    version = trial.app.approved_version
    assert version is not None
    return authorize_address(trial.app, redirect_url=version.redirect_url, business_id=trial.store_id)


def _chosen(scopes: Sequence[str]) -> list[Scope]:
    return [SCOPES[name] for name in in_order(scopes)]


def _noun(scope: Scope) -> str:
    noun = scope.name.partition("_")[2]
    return NOUNS.get(noun, noun)
