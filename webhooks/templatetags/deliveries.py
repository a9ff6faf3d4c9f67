"""`{% load deliveries %}`: how apps take what they are sent, for pages of the rooms below."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from django import template
from django.utils import timezone

from installations.models import Installation
from webhooks import queries
from webhooks.models import Attempt

register = template.Library()


@register.simple_tag
def failing_since(installations: Iterable[Installation]) -> dict[UUID, datetime]:
    """`{% failing_since installations as failing %}`: those in trouble, by their id."""
    return queries.failing_since(installations, timezone.now())


@register.filter
def since_of(failing: dict[UUID, datetime], installation: Installation) -> datetime | None:
    """Out of what `failing_since` gave."""
    return failing.get(installation.pk)


@register.simple_tag
def trouble_of(installation: Installation) -> datetime | None:
    """`failing_since` for one."""
    return since_of(failing_since([installation]), installation)


@register.simple_tag
def taken(installation: Installation) -> queries.Taken:
    return queries.taken(installation, timezone.now())


@register.simple_tag
def erasure_story(installation: Installation) -> queries.ErasureStory | None:
    return queries.erasure_story(installation)


@register.filter
def answer(attempt: Attempt) -> str:
    """What an app answered, for people who know nothing of statuses."""
    if attempt.http_status is None:
        return "It could not be reached, or gave no answer."
    if not attempt.error_class:
        return "It confirmed."
    return f"It answered, but did not confirm ({attempt.http_status})."
