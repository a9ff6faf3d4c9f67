"""People and the businesses they own; and people with roles beside an owner, with what those of an app and of a store have in common."""

from datetime import datetime, timedelta
from typing import Any, ClassVar, Final, Self, TypeVar
from unicodedata import normalize
from uuid import UUID

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.db import models
from django.utils import timezone
from django.utils.timezone import now

from accounts.enums import Role, StoreRole
from accounts.models.capabilities import CONNECTED_STORE, COPY_OF_STORE, OWN_STORE, Capabilities
from accounts.validators import validate_currency, validate_locale, validate_timezone
from common import lengths
from common.contacts import kept_email_key
from common.db.fields import EmailField
from common.ids import new_id


class UserManager(BaseUserManager["User"]):
    """`create_user` and `create_superuser`, as Django's commands call them."""

    def create_user(self, email: str, password: str | None = None, **fields: object) -> "User":
        user = self.model(email=normalize_email(email), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: object) -> "User":
        fields |= {"is_staff": True, "is_superuser": True}
        return self.create_user(
            email, password, **({"role": Role.REVIEWER, "name": "Administrator"} | fields)
        )

    def get_by_natural_key(self, username: str | None) -> "User":
        if found := self.with_email(username or ""):
            return found
        raise self.model.DoesNotExist

    def with_email(self, email: str) -> "User | None":
        """The account of an address, in whatever spelling of it.

        Two accounts of before may share a normal form: one has the key, and the other is found by what is written in its
        row. So is an account that a process of the version before has made, which has no key yet.
        """
        written = normalize_email(email)
        rows = self.filter(models.Q(email=written) | models.Q(email_key=kept_email_key(written)))
        return max(rows, key=lambda user: user.email == written, default=None)


def normalize_email(email: str) -> str:
    """How an account's address is kept and shown: in small letters. Its key is compared (`common.contacts`)."""
    return normalize("NFC", email.strip()).lower()


class User(AbstractBaseUser, PermissionsMixin):
    """A person. The e-mail address is the login name."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    email = EmailField("e-mail", unique=True, max_length=254)
    email_key = models.CharField(
        max_length=254,
        null=True,
        editable=False,
        help_text="The normal form; null where another account of before has it.",
    )
    name = models.CharField(max_length=120)
    role = models.CharField(max_length=16, choices=Role.choices)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    comes_by_ticket = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        help_text="A person of a connected store (`ShopPerson`), whom the shop signs in. No mail reaches the address.",
    )
    pending_email = models.EmailField(
        "new e-mail",
        max_length=254,
        blank=True,
        default="",
        db_default="",
        help_text="Asked for, and not confirmed yet.",
    )
    muted_mails = models.JSONField(
        default=list, blank=True, db_default=[], help_text="The kinds of notices that aren't mailed."
    )
    store_notices = models.JSONField(
        default=dict,
        blank=True,
        db_default={},
        help_text="How often each kind of notice is mailed, if chosen.",
    )
    date_joined = models.DateTimeField(default=now, editable=False)
    deleted_at = models.DateTimeField(
        null=True,
        editable=False,
        help_text="Since when the row is an empty one that others refer to (`services.deletion`).",
    )

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["name"]

    class Meta:
        indexes = [
            models.Index(
                fields=["deleted_at"], name="person_deleted", condition=models.Q(deleted_at__isnull=False)
            )
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["email_key"], condition=models.Q(email_key__isnull=False), name="account_of_email_key"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} <{self.email}>"

    def clean(self) -> None:
        super().clean()
        self.email = normalize_email(self.email)
        if (owner := User.objects.with_email(self.email)) and owner.pk != self.pk:
            raise ValidationError({"email": "An account with this e-mail address already exists."})

    def save(self, *args: Any, update_fields: Any = None, **options: Any) -> None:
        """The key follows the address. Raises `IntegrityError` where another account has it."""
        if update_fields is None or "email" in update_fields:
            key, is_asked = kept_email_key(self.email), self._state.adding or update_fields is not None
            if is_asked or self.email_key or not User.objects.filter(email_key=key).exists():
                self.email_key = key
            update_fields = update_fields and {*update_fields, "email_key"}
        super().save(*args, update_fields=update_fields, **options)

    def has_address(self, email: str) -> bool:
        """Whether this is the account of an address, in whatever spelling."""
        written = normalize_email(email)
        return written == self.email or (
            self.email_key is not None and self.email_key == kept_email_key(written)
        )

    def set_password(self, raw_password: str | None) -> None:
        """In NFKC, as NIST SP 800-63B asks: keyboards write the same letter in several ways."""
        super().set_password(raw_password and normalize("NFKC", raw_password))

    def check_password(self, raw_password: str | None) -> bool:
        """Passwords of before are hashed as they were typed."""
        composed = raw_password and normalize("NFKC", raw_password)
        if super().check_password(composed):
            return True
        return composed != raw_password and super().check_password(raw_password)

    def session_hashes(self) -> list[str]:
        """The hashes that a valid session may hold: one for each secret key that is still accepted."""
        return [self.get_session_auth_hash(), *self.get_session_auth_fallback_hash()]

    @property
    def is_developer(self) -> bool:
        return self.role == Role.DEVELOPER

    @property
    def is_merchant(self) -> bool:
        return self.role == Role.MERCHANT

    @property
    def capabilities(self) -> Capabilities:
        """What is there for this person, in whatever store."""
        return CONNECTED_STORE if self.comes_by_ticket else OWN_STORE

    @property
    def shown_email(self) -> str:
        """The address by which people know the account; empty where it has none."""
        return "" if self.comes_by_ticket else self.email


class BusinessQuerySet(models.QuerySet["Business"]):
    def owned_by(self, user: User | UUID) -> "BusinessQuerySet":
        return self.filter(owner=user)

    def sandboxes_of(self, user: User | UUID) -> "BusinessQuerySet":
        """The lasting one, and throwaway stores, of a person or of the one with this id."""
        return self.filter(owner=user, is_sandbox=True)

    def sandboxes(self) -> "BusinessQuerySet":
        """Of all developers and reviewers. They are few beside the stores of merchants, and have an index."""
        return self.filter(is_sandbox=True)

    def sandbox_of(self, user: User) -> "Business":
        """The sandbox that every developer has from the first minute."""
        return self.get(owner=user, is_sandbox=True)

    def main_of(self, user: User) -> "Business | None":
        """A developer's sandbox, a merchant's oldest business, a reviewer's test store; None without any."""
        return self.owned_by(user).main_first().first()

    def main_first(self) -> "BusinessQuerySet":
        return self.order_by("-is_sandbox", "created_at", "id")


class Business(models.Model):
    """A tenant: a merchant's business, a developer's sandbox, a throwaway store, or a store of a shop system. Made by `accounts.services`.

    `store_role` is there where a person's role was read along (`accounts.access`).
    """

    store_role: str
    copy_of_id: UUID | None

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="businesses")
    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=80, unique=True)
    type = models.CharField(max_length=60, blank=True)
    address = models.TextField(blank=True, validators=[MaxLengthValidator(lengths.ADDRESS)])
    currency = models.CharField(max_length=3, default="USD", validators=[validate_currency])
    locale = models.CharField(max_length=16, default="en", validators=[validate_locale])
    timezone = models.CharField(max_length=64, default="UTC", validators=[validate_timezone])
    is_sandbox = models.BooleanField(default=False)
    is_connected = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        help_text="A store of a `ShopSystem`: its rows are pushed by the shop (`ConnectedStore`).",
    )
    copy_of = models.ForeignKey(
        "self",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        editable=False,
        db_index=False,
        db_constraint=False,
        related_name="copies",
        help_text="Of a throwaway store: the store that it is a copy of, on which an app is tried (`installations.Trial`).",
    )
    expires_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="Of a throwaway store for one check, test or trial of an app (`conformance`, `teststores`). It is in no list, and deleted afterwards.",
    )
    created_at = models.DateTimeField(default=now, editable=False)

    objects = BusinessQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "businesses"
        constraints = [
            models.UniqueConstraint(
                fields=["owner"],
                condition=models.Q(is_sandbox=True, expires_at=None),
                name="one_lasting_sandbox",
            )
        ]
        indexes = [
            models.Index(
                fields=["expires_at"],
                name="business_expiring",
                condition=models.Q(expires_at__isnull=False),
            ),
            models.Index(fields=["id"], name="business_sandbox", condition=models.Q(is_sandbox=True)),
            models.Index(
                fields=["copy_of"], name="business_copies", condition=models.Q(copy_of__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def capabilities(self) -> Capabilities:
        if self.copy_of_id is not None:
            return COPY_OF_STORE
        return CONNECTED_STORE if self.is_connected else OWN_STORE

    @property
    def mailed_name(self) -> str:
        """What mails to its people call it."""
        return self.name if self.capabilities.named_in_mails else "your store"


# --- People beside an owner --------------------------------------------------------------------------

LASTS: Final = timedelta(days=7)  # an invitation, and an offer to transfer an app


Row = TypeVar("Row", bound="Invitable")


class InvitableQuerySet(models.QuerySet[Row]):
    def active(self) -> Self:
        return self.filter(user__isnull=False)

    def standing(self, now: datetime) -> Self:
        """People, and invitations that can still be accepted."""
        return self.filter(models.Q(user__isnull=False) | models.Q(since__gt=now - LASTS))


class Invitable(models.Model):
    """A person's role; or an invitation for `email`, while there is no `user`. `since` is when it was accepted, or sent."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    email = models.CharField(max_length=254, blank=True)
    invited_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    since = models.DateTimeField(default=timezone.now)

    role: str  # a column of the models, with the roles that the thing has

    objects = InvitableQuerySet.as_manager()

    class Meta:
        abstract = True

    @property
    def address(self) -> str:
        return self.user.email if self.user else self.email

    @property
    def expires_at(self) -> datetime:
        """Of an invitation."""
        return self.since + LASTS


class Staff(Invitable):
    """A person's role in a merchant's store, or an invitation to it.

    The owner has no row: that is `Business.owner`, so there is always exactly one. Only `accounts.services.staff` changes it. People of
    connected stores all have one, with any of the roles (`accounts.sign_in.tickets`).
    """

    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="staff")
    user = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="staff_of")
    role = models.CharField(max_length=10, choices=StoreRole.choices)

    class Meta:
        verbose_name_plural = "staff"
        constraints = [
            models.UniqueConstraint(fields=["business", "user"], name="staff_once"),
            models.UniqueConstraint(
                fields=["business", "email"], condition=models.Q(user=None), name="staff_invited_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role} {self.user_id or self.email}"
