"""Receivers of lower-level apps' signals, in the transaction of the change. Connected by `MarketplaceConfig`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.dispatch import receiver

from accounts.models import User
from accounts.services.deletion import Obstacle
from accounts.signals import account_deleted, account_deletion_asked
from marketplace.models import App
from marketplace.services.apps import end_apps_of
from marketplace.services.members import MEMBERS


@receiver(account_deletion_asked)
def keep_apps_of_several_people(sender: Any, *, user: User, **kwargs: Any) -> Sequence[Obstacle]:
    """An app that others work on doesn't end with its owner's account."""
    shared = App.objects.owned_by(user).live().filter(memberships__user__isnull=False).distinct()
    return [
        Obstacle(
            title=f"{app.name} has other members",
            advice="Transfer it to one of them, or remove them first.",
            path=f"/portal/apps/{app.slug}/members/",
        )
        for app in shared.order_by("name")
    ]


@receiver(account_deleted)
def end_apps(sender: Any, *, user: User, now: datetime, **kwargs: Any) -> None:
    end_apps_of(developer=user, now=now)
    MEMBERS.leave_all(user=user, now=now)
