"""What reviewers may do, as a group of rights: review and suspend apps, and look at whatever belongs to that."""

from typing import Any, Final

from django.apps import apps
from django.contrib.auth.models import Permission
from django.db.models.signals import post_migrate

from accounts.services import reviewers

RIGHTS: Final = (
    "view_app",
    "change_app",  # to suspend it, and to lift that; nobody edits another's app
    "view_appversion",
    "view_submission",
    "change_submission",  # to take, judge and decide it
    "view_reviewentry",
    "view_manifestflag",
    "change_manifestflag",  # to put it aside
)
MAY_REVIEW: Final = "marketplace.change_submission"
MAY_SUSPEND: Final = "marketplace.change_app"


def grant_rights(using: str = "default", **kwargs: Any) -> None:
    """Make the group where it is missing, and give it these rights: no others are taken from it."""
    group = reviewers.group(using=using)
    group.permissions.add(
        *Permission.objects.using(using).filter(
            content_type__app_label__in=("marketplace", "extensions"), codename__in=RIGHTS
        )
    )


def grant_rights_after_migrations() -> None:
    """Once the rights are rows: they come with each app's own signal, that of `django.contrib.auth` after ours."""
    post_migrate.connect(
        grant_rights, sender=apps.get_app_config("auth"), dispatch_uid="developers.review.reviewers"
    )
