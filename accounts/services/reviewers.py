"""Making reviewers: staff whom an administrator creates (contract section 1)."""

from typing import Final

from django.contrib.auth.models import Group
from django.db import DEFAULT_DB_ALIAS, transaction

from accounts.enums import Role
from accounts.models import User

GROUP: Final = "Reviewers"


@transaction.atomic
def create_reviewer(*, email: str, name: str, password: str | None = None) -> User:
    """A person who may review apps, and nothing else in the administration. Without a password, signing in isn't possible."""
    reviewer = User.objects.create_user(email, password, name=name, role=Role.REVIEWER, is_staff=True)
    reviewer.groups.add(group())
    return reviewer


def group(*, using: str = DEFAULT_DB_ALIAS) -> Group:
    """The group that reviewers belong to. `developers.review` gives it its rights."""
    return Group.objects.using(using).get_or_create(name=GROUP)[0]
