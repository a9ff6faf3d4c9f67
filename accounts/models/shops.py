"""Shop systems that exist and push their stores here: the connection, its keys, and which business is which of their stores (contract,
section 17), and who their people are. Written by `accounts.services.shops`, `accounts.sign_in.tickets` and `stores.connected`.
"""

from datetime import timedelta
from typing import Any, Final

from django.db import models
from django.db.models import Q
from django.utils.timezone import now

from accounts.models.people import Business, User
from common.db.fields import EncryptedTextField
from common.ids import new_id

EXTERNAL_ID: Final = 100  # characters
PERSON_ID: Final = 255


class ShopSystemQuerySet(models.QuerySet["ShopSystem"]):
    def active(self) -> "ShopSystemQuerySet":
        return self.filter(ended_at=None)


class ShopSystem(models.Model):
    """A connection: somebody's shop software, which may have many stores. It has keys, and no password.

    `secret` signs what is sent to it, as a webhook's does. `ended_at` is set by **Disconnect**; the row goes with its last store.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=100)
    commands_url = models.TextField(
        "commands", blank=True, help_text="Where it is asked for what apps write. Empty: apps only read."
    )
    sign_in_url = models.TextField(
        "sign-in", blank=True, help_text="Where people without a session are sent."
    )
    secret = EncryptedTextField(editable=False)
    is_test = models.BooleanField(
        "for tests", default=False, help_text="Its stores are sandboxes, whose clock can be moved."
    )
    created_at = models.DateTimeField(default=now, editable=False)
    ended_at = models.DateTimeField(null=True, editable=False)

    objects = ShopSystemQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["name"], condition=Q(ended_at=None), name="shop_system_name")
        ]
        permissions = [("connect_shops", "connect shops")]

    def __str__(self) -> str:
        return self.name


class ShopKeyQuerySet(models.QuerySet["ShopKey"]):
    def usable(self, moment: Any) -> "ShopKeyQuerySet":
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=moment), system__ended_at=None)


class ShopKey(models.Model):
    """A key of a shop system, of which only the SHA-256 is kept. `expires_at` is set once a newer one was made."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    system = models.ForeignKey(ShopSystem, on_delete=models.CASCADE, related_name="keys")
    digest = models.CharField(max_length=64, unique=True)
    last_four = models.CharField(max_length=4)
    created_at = models.DateTimeField(default=now)
    expires_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)  # exact to a minute

    objects = ShopKeyQuerySet.as_manager()

    def __str__(self) -> str:
        return f"…{self.last_four} of {self.system_id}"


class ConnectedStoreQuerySet(models.QuerySet["ConnectedStore"]):
    def standing(self) -> "ConnectedStoreQuerySet":
        """Those that aren't on their way out."""
        return self.filter(ending_since=None)


class ConnectedStore(models.Model):
    """A store of a shop system, which is a business here. `external_id` is the shop's id of it, for ever.

    The business is owned by an account of its own without a way to sign in, so that it ends as any account does. `ending_since` is
    set by DELETE: nothing of the store answers from then on, and the row goes with the store's records.
    """

    business = models.OneToOneField(
        Business, on_delete=models.CASCADE, primary_key=True, related_name="connected"
    )
    system = models.ForeignKey(ShopSystem, on_delete=models.PROTECT, related_name="stores")
    external_id = models.CharField(max_length=EXTERNAL_ID)
    storefront_url = models.TextField(blank=True)
    storefront_origins = models.JSONField(default=list, help_text="Beside that of `storefront_url`.")
    ending_since = models.DateTimeField(null=True, editable=False)
    ahead = models.DurationField(
        default=timedelta,
        editable=False,
        help_text="Of a connection for tests: how far its clock is before the real one.",
    )

    objects = ConnectedStoreQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["system", "external_id"], name="store_of_shop_system")]

    def __str__(self) -> str:
        return f"{self.external_id} of {self.system_id}"


class ShopPerson(models.Model):
    """A person of a shop, in one of its stores. `external_id` is the shop's id of them; their role is their row of `Staff`.

    The account has neither a password nor an address that mails reach. `email` is where notices go, and is never compared with an
    account's.
    """

    user = models.OneToOneField(User, on_delete=models.CASCADE, primary_key=True, related_name="shop_person")
    store = models.ForeignKey(ConnectedStore, on_delete=models.CASCADE, related_name="people")
    external_id = models.CharField(max_length=PERSON_ID)
    email = models.CharField(max_length=254, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["store", "external_id"], name="person_of_connected_store")
        ]

    def __str__(self) -> str:
        return f"{self.external_id} of {self.store_id}"


class ShopTicket(models.Model):
    """Signs a person of a shop in, once. The row goes with the use; `next` is where the browser then goes. Only a digest is stored."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    digest = models.CharField(max_length=64, unique=True)
    person = models.ForeignKey(ShopPerson, on_delete=models.CASCADE, related_name="tickets")
    next = models.TextField()
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"Ticket of {self.person_id}"
