"""Permissions of reviewers, as a group: review and suspend apps, and see everything that belongs to a review."""

from typing import Any, Final

from django.apps import apps
from django.contrib.auth.models import Permission
from django.db.models.signals import post_migrate

from accounts.services import registration

RIGHTS: Final = (
    "view_app",
    "change_app",  # to suspend it and lift the suspension; only developers edit their apps
    "view_appversion",
    "view_submission",
    "change_submission",  # to hold, judge and decide it
    "view_reviewentry",
)
MAY_REVIEW: Final = "marketplace.change_submission"
MAY_SUSPEND: Final = "marketplace.change_app"


def grant_rights(using: str = "default", **kwargs: Any) -> None:
    """Creates the group if it is missing, and adds these permissions. Others that it has stay."""
    group = registration.reviewer_group(using=using)
    group.permissions.add(
        *Permission.objects.using(using).filter(content_type__app_label="marketplace", codename__in=RIGHTS)
    )


def grant_rights_after_migrations() -> None:
    """Runs `grant_rights` when the permissions exist. Each app creates its own, and `django.contrib.auth` comes after ours."""
    post_migrate.connect(
        grant_rights, sender=apps.get_app_config("auth"), dispatch_uid="developers.review.reviewers"
    )
