"""Submitting an app for review, with what every floor of the house finds missing."""

from datetime import datetime
from typing import Final

from accounts.models import User
from common.errors import ErrorDetail
from extensions.submission import hooks_without_url
from marketplace import rules
from marketplace.models import App, Submission
from marketplace.services import reviews

CHECKS: Final[tuple[reviews.Check, ...]] = (hooks_without_url,)
"""Of the floors above the marketplace, which finds what is wrong with the app's own fields by itself."""


def missing(app: App) -> list[ErrorDetail]:
    """What `submit_app` would refuse now, beside the texts that go with it. Looks the Webhook URL's host up."""
    return reviews.missing(app, CHECKS, rules.unreachable(app))


def submit_app(
    *, app: App, developer: User, how_to_test: str = "", scope_reason: str = "", now: datetime | None = None
) -> Submission:
    """`marketplace.services.reviews.submit` with all checks, and its errors."""
    return reviews.submit(
        app=app,
        developer=developer,
        how_to_test=how_to_test,
        scope_reason=scope_reason,
        checks=CHECKS,
        now=now,
    )
