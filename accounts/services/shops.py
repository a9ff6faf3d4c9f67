"""Connections to shop systems and their keys (contract, section 17). What their stores are made of is `stores.connected`."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.utils import timezone

from accounts.models import ShopKey, ShopSystem
from common.errors import Conflict, Invalid, Unauthenticated
from common.secrets import digest, last_four, new_shop_key, new_webhook_secret

OVERLAP: Final = timedelta(hours=24)  # for which the key before still works
USED_EVERY: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Connected:
    """A connection with what is shown once: its key and its secret."""

    system: ShopSystem
    key: str
    secret: str


@transaction.atomic
def connect(
    *,
    name: str,
    commands_url: str = "",
    sign_in_url: str = "",
    is_test: bool = False,
    now: datetime | None = None,
) -> Connected:
    """A new connection. Raises `Invalid` naming each bad field, and `Conflict` for a name that is taken."""
    now, name = now or timezone.now(), name.strip()
    if not 1 <= len(name) <= 100:
        raise Invalid.field("name", "Enter a name of 1 to 100 characters.")
    if ShopSystem.objects.active().filter(name=name).exists():
        raise Conflict(f"A shop system named {name} is connected already.", code="name_taken")
    secret = new_webhook_secret(test=False)
    system = ShopSystem.objects.create(
        name=name,
        commands_url=commands_url,
        sign_in_url=sign_in_url,
        secret=secret,
        is_test=is_test,
        created_at=now,
    )
    return Connected(system, _make_key(system, now), secret)


def _make_key(system: ShopSystem, now: datetime) -> str:
    text = new_shop_key()
    ShopKey.objects.create(system=system, digest=digest(text), last_four=last_four(text), created_at=now)
    return text


def key_of(text: str, now: datetime) -> ShopKey:
    """The key with its connection. Raises `Unauthenticated` for an unknown or ended one."""
    key = ShopKey.objects.usable(now).select_related("system").filter(digest=digest(text)).first()
    if key is None:
        raise Unauthenticated("The key is unknown or has ended.", code="invalid_key")
    if key.last_used_at is None or key.last_used_at <= now - USED_EVERY:
        ShopKey.objects.filter(pk=key.pk).update(last_used_at=now)
    return key
