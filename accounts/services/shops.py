"""Connections to shop systems and their keys (contract, section 17). `stores.connected` has their stores."""

import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import CharField, DateTimeField
from django.utils import timezone

from accounts.models import ShopKey, ShopSystem
from common.db.compiled import Compiled, Param
from common.errors import Conflict, ErrorDetail, Invalid, Unauthenticated
from common.http.url_policy import InvalidUrl, check_destination_url
from common.secrets import digest, last_four, new_shop_key, new_webhook_secret

OVERLAP: Final = timedelta(hours=24)  # for which the key before still works
USED_EVERY: Final = timedelta(minutes=1)
MAX_NAME: Final = 100
MAY_CONNECT: Final = "accounts.connect_shops"
# For each request of a shop.
_OF_DIGEST: Final = Compiled(
    lambda: (
        ShopKey.objects.usable(Param("now", DateTimeField()))
        .select_related("system")
        .filter(digest=Param("digest", CharField()))
    ),
    prepared_as="shop_keys",
)


@dataclass(frozen=True, slots=True)
class Connected:
    """A connection with what is shown once: its key and its secret."""

    system: ShopSystem
    key: str
    secret: str


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
    problems: list[ErrorDetail] = []
    if not 1 <= len(name) <= MAX_NAME or has_controls(name):
        message = f"Enter a name of 1 to {MAX_NAME} characters, without control characters."
        problems.append({"field": "name", "message": message})
    _check(problems, commands_url, sign_in_url)
    secret = new_webhook_secret(test=False)
    try:
        with transaction.atomic():
            system = ShopSystem.objects.create(
                name=name,
                commands_url=commands_url,
                sign_in_url=sign_in_url,
                secret=secret,
                is_test=is_test,
                created_at=now,
            )
            return Connected(system, _make_key(system, now), secret)
    except IntegrityError:
        raise Conflict(f"A shop system named {name} is connected already. Choose another name.") from None


@transaction.atomic
def change_urls(*, system: ShopSystem, commands_url: str, sign_in_url: str) -> None:
    """What is sent from now on goes there. Raises `Invalid` naming each bad field, and `Conflict` if the connection has ended."""
    _check([], commands_url, sign_in_url)
    _lock(system)
    system.commands_url, system.sign_in_url = commands_url, sign_in_url
    system.save(update_fields=["commands_url", "sign_in_url"])


def _check(problems: list[ErrorDetail], commands_url: str, sign_in_url: str) -> None:
    """Raises `Invalid` for these problems and those of the URLs."""
    for field, url in (("commands", commands_url), ("sign-in", sign_in_url)):
        try:
            if url:
                check_destination_url(
                    url, debug=settings.DEBUG, allow_local=settings.ALLOW_LOCAL_DESTINATIONS
                )
        except InvalidUrl as error:
            problems.append({"field": field, "message": str(error)})
    if problems:
        raise Invalid.fields(problems)


def has_controls(text: str) -> bool:
    """Whether a text has control characters, which break a line."""
    return any(unicodedata.category(letter) == "Cc" for letter in text)


# --- Keys and secret ---------------------------------------------------------------------------------


@transaction.atomic
def new_key(*, system: ShopSystem, now: datetime | None = None) -> str:
    """Another key. The one before works for 24 hours more; one before that ends now. Raises `Conflict` if the connection has ended."""
    now = now or timezone.now()
    _lock(system)
    before = keys_of(system, now)
    if before:
        ShopKey.objects.filter(pk=before[0].pk).update(expires_at=now + OVERLAP)
    system.keys.exclude(pk__in=[each.pk for each in before[:1]]).delete()
    return _make_key(system, now)


@transaction.atomic
def end_old_key(*, system: ShopSystem, now: datetime | None = None) -> None:
    """From now on the newest key alone works. Raises `Conflict` if there is no other, or if the connection has ended."""
    _lock(system)
    older = keys_of(system, now or timezone.now())[1:]
    if not older:
        raise Conflict("There is no old key. It has ended already.")
    system.keys.filter(pk__in=[each.pk for each in older]).delete()


@transaction.atomic
def new_secret(*, system: ShopSystem) -> str:
    """What is sent from now on is signed with it. Raises `Conflict` if the connection has ended."""
    _lock(system)
    secret = new_webhook_secret(test=False)
    system.secret = secret
    system.save(update_fields=["secret"])
    return secret


def _lock(system: ShopSystem) -> None:
    """Two presses wait for each other."""
    if not ShopSystem.objects.active().select_for_update(no_key=True).filter(pk=system.pk):
        raise Conflict("This shop system is disconnected.")


def _make_key(system: ShopSystem, now: datetime) -> str:
    text = new_shop_key()
    ShopKey.objects.create(system=system, digest=digest(text), last_four=last_four(text), created_at=now)
    return text


def keys_of(system: ShopSystem, now: datetime) -> list[ShopKey]:
    """Those that work, the newest first."""
    return list(ShopKey.objects.usable(now).filter(system=system).order_by("-created_at", "-id"))


def key_of(text: str, now: datetime) -> ShopKey:
    """The key with its connection. Raises `Unauthenticated` for an unknown or ended one."""
    key = _OF_DIGEST.first(now=now, digest=digest(text))
    if key is None:
        raise Unauthenticated("The key is unknown or has ended.", code="invalid_key")
    if key.last_used_at is None or key.last_used_at <= now - USED_EVERY:
        ShopKey.objects.filter(pk=key.pk).update(last_used_at=now)
    return key
