"""An approval by a reviewer, and what follows from it."""

from typing import Any

from installations.services.approval import follow_all
from marketplace.enums import AppStatus
from marketplace.models import App
from marketplace.services import reviews
from tests import factories


def approve(app: App, mode: str, **fields: Any) -> App:
    """A new version with these fields, released as `mode` says and followed by the stores."""
    App.objects.filter(pk=app.pk).update(status=AppStatus.DRAFT, **fields)
    submission = factories.submit(App.objects.get(pk=app.pk), release=mode)
    reviews.approve(submission=submission, reviewer=factories.reviewer())
    follow_all()
    return App.objects.get(pk=app.pk)
