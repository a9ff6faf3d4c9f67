"""Blanks what calls of hooks hold about a customer who is erased."""

from datetime import datetime

from django.db.models import Q

from extensions.models import HookCall, RelayedCall
from installations.models import Installation
from stores.copies import Copies


def erase_customer(copies: Copies, *, now: datetime) -> None:
    """That a hook was called, with what outcome, stays."""
    ids = list(Installation.objects.filter(business=copies.business).values_list("pk", flat=True))
    calls = HookCall.objects.filter(installation__in=ids, called_at__gte=copies.copied_since)
    theirs = Q(order_id__in=copies.order_ids) | copies.in_records("request_body", "answer_excerpt")
    calls.filter(theirs).update(request_body="", answer_excerpt="")
    calls.exclude(problem="").filter(copies.in_words("problem")).update(problem="")
    # One that is being answered goes with its call. These are of processes that were killed.
    RelayedCall.objects.filter(installation__in=ids, ends_at__lt=now).delete()
