"""Blanks what calls of hooks hold about a customer who is erased."""

from datetime import datetime
from functools import partial

from extensions.models import HookCall, RelayedCall, ShadowCall
from installations.models import Installation
from stores.copies import Copies, blank


def erase_customer(copies: Copies, *, now: datetime) -> None:
    """That a hook was called, with what outcome, stays."""
    ids = list(Installation.objects.filter(business=copies.business).values_list("pk", flat=True))
    texts = ("problem", "request_body", "answer_excerpt")
    calls = HookCall.objects.filter(installation__in=ids).only("order_id", *texts)
    blank(calls, partial(_without_customer, copies))
    blank(ShadowCall.objects.filter(installation__in=ids).only("problem"), partial(_without_words, copies))
    # One that is being answered goes with its call. These are of processes that were killed.
    RelayedCall.objects.filter(installation__in=ids, ends_at__lt=now).delete()


def _without_customer(copies: Copies, call: HookCall) -> dict[str, str]:
    found: dict[str, str] = {}
    if copies.name(str(call.order_id), call.request_body, call.answer_excerpt):
        found |= {"request_body": "", "answer_excerpt": ""}
    if copies.words.are_in(call.problem):
        found["problem"] = ""
    return found


def _without_words(copies: Copies, call: ShadowCall) -> dict[str, str]:
    return {"problem": ""} if copies.words.are_in(call.problem) else {}
