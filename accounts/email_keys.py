"""Keys for accounts of a version that had none, in migration 0019, and for those that its processes make until they end."""

from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Model

from common.contacts import kept_email_key
from common.db.rows import for_each


def complete(accounts: type[Model]) -> int:
    """Give each account without a key its own, unless another has it. Returns how many got one. Safe to repeat.

    Of two accounts with the same normal form the one that is written in it gets the key, since its mails have always gone
    there; else the older one. The other keeps its address, and is found by that.
    """
    keyless: Any = accounts._base_manager.filter(email_key=None).order_by("pk").values_list("pk", "email")

    def complete_some(is_written_so: bool) -> int:
        def work(row: tuple[Any, str]) -> int:
            return give(accounts, *row, is_written_so)

        return for_each(keyless.iterator(chunk_size=500), work, task="complete_email_keys")

    return complete_some(True) + complete_some(False)


def give(accounts: type[Model], pk: Any, email: str, is_written_so: bool) -> int:
    """Give one account its key, if that is written as its address or not, and no other has it. Returns whether it got one."""
    key, rows = kept_email_key(email), accounts._base_manager
    if (key == email) is not is_written_so or rows.filter(email_key=key).exists():
        return 0
    try:
        with transaction.atomic():
            return int(rows.filter(pk=pk, email=email, email_key=None).update(email_key=key))
    except IntegrityError:  # somebody has registered it at this moment
        return 0
