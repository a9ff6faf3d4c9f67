"""Filling the columns of keys (`common.db.fields.KeyField`) in rows of a version that had none."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from django.db import transaction
from django.db.models import Model

BATCH: Final = 500  # rows


def complete(model: type[Model], keys: Mapping[str, Callable[[str], str]]) -> int:
    """Give each row without keys its own, and return how many got one. `keys` names the typed columns.

    A row changes only while what was typed in it is still there: it may be erased meanwhile by a process that knows no
    keys.
    """
    first, rows, done, last = next(iter(keys)), model._base_manager, 0, None
    keyless: Any = rows.filter((f"{first}_key", None)).order_by("pk")
    while batch := list((keyless.filter(pk__gt=last) if last else keyless).values("pk", *keys)[:BATCH]):
        with transaction.atomic():
            for row in batch:
                done += rows.filter(**row).update(
                    **{f"{each}_key": key(row[each]) for each, key in keys.items()}
                )
        last = batch[-1]["pk"]
    return done
