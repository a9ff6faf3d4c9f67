"""Leases: that there is one kind of them, and what the worker that looks for its next row passes over."""

from datetime import timedelta

import pytest
from django.apps import apps
from django.db import models, transaction
from django.utils import timezone

from appapi.models import Export
from common.db.leases import LeaseField, held, take_first
from installations.models import Installation
from tests.threads import at_once

OF_THE_ENGINE = "webhooks.Delivery.lease_until"
PAUSE = "extensions.Breaker.open_until"  # of a hook, which ends by itself for all callers


def test_all_leases_but_the_engines_are_of_one_kind() -> None:
    own = {
        f"{model._meta.label}.{field.name}"
        for model in apps.get_models()
        for field in model._meta.get_fields()
        if isinstance(field, models.DateTimeField) and not isinstance(field, LeaseField)
        if "lease" in field.name or field.name.endswith("_until")
    }
    assert own == {OF_THE_ENGINE, PAUSE}


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_row_that_is_leased_or_locked_is_passed_over(installation: Installation) -> None:
    now, lasts = timezone.now(), timedelta(minutes=1)
    locked, first, second = (
        Export.objects.create(installation=installation, resource="PRODUCTS", status="READY")
        for _ in range(3)
    )
    rows = Export.objects.order_by("pk")
    with transaction.atomic():
        Export.objects.select_for_update().get(pk=locked.pk)
        taken = at_once(*[lambda: take_first(rows, lasts=lasts, now=now)])
        taken += at_once(*[lambda: take_first(rows, lasts=lasts, now=now)] * 2)
    assert taken[0] == first
    assert sorted(taken[1:], key=bool) == [None, second]
    assert held(rows, now + lasts).count() == 2

    assert take_first(rows, lasts=lasts, now=now) == locked
    assert take_first(rows, lasts=lasts, now=now + lasts - timedelta(microseconds=1)) is None
    assert take_first(rows, lasts=lasts, now=now + lasts) == locked
    assert [row.pk for row in held(rows, now + lasts)] == [first.pk, second.pk], "It was overtaken."
