"""Checks of the addresses an app gives: HTTPS, and a host that the internet can reach."""

from collections.abc import Callable, Iterator

from developers.review.evidence import Evidence, Outcome
from marketplace import rules
from marketplace.models import App


def redirect_url(app: App) -> Iterator[Evidence]:
    yield _judged(app.redirect_url, rules.redirect_url)


def webhook_url(app: App) -> Iterator[Evidence]:
    if not app.webhook_url:
        yield Evidence(Outcome.PASS, "There is none: the app is sent no webhooks of its own.")
        return
    evidence = _judged(app.webhook_url, rules.webhook_url)
    yield evidence
    if evidence.outcome != Outcome.FAIL:
        yield _reachable(app.webhook_url)


def _judged(url: str, rule: Callable[[str], None]) -> Evidence:
    """By the rule as the settings in force have it, which may have changed since the URL was entered."""
    try:
        rule(url)
    except ValueError as error:
        return Evidence(Outcome.FAIL, f"{url} is refused now: {error}")
    if not url.startswith("https://"):
        return Evidence(Outcome.WARN, f"{url} is plain HTTP, which only a development machine allows.")
    return Evidence(Outcome.PASS, f"{url} is HTTPS.")


def _reachable(url: str) -> Evidence:
    try:
        rules.reachable(url)
    except ValueError as error:
        return Evidence(Outcome.FAIL, str(error))
    return Evidence(Outcome.PASS, "Its host has no private address.")
