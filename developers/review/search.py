"""What a reviewer finds in the review: apps."""

from collections.abc import Iterator

from django.db.models import Q
from django.urls import reverse

from accounts.models import User
from common.ids import parse_id
from common.web.found import MOST, Found
from developers.review.reviewers import MAY_REVIEW
from marketplace.models import App


def in_review(person: User, text: str) -> Iterator[Found]:
    """Apps by name, slug, Client ID or id, for people who may review."""
    if not (person.is_staff and person.has_perm(MAY_REVIEW)):
        return
    wanted = parse_id(text.lower())
    named = Q(pk=wanted) if wanted else Q(name__finds=text) | Q(slug__finds=text) | Q(client_id=text)
    for app in App.objects.filter(named).order_by("-created_at", "-id")[:MOST]:
        url = reverse("admin:marketplace_app_change", args=[app.pk])
        yield Found("App in review", app.name, app.get_status_display(), url, "clipboard-list")
