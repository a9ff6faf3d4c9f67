"""What keeps people signed in, and what has happened to their accounts and apps. Only digests of secrets are stored, so a copy of the
database can't be used to sign in. The log can't be changed.
"""

from datetime import datetime, timedelta
from typing import Any, ClassVar, Final

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.base_session import AbstractBaseSession, BaseSessionManager
from django.db import models
from django.db.models import OuterRef, Q, Subquery
from django.utils.module_loading import import_string
from django.utils.timezone import now

from accounts.enums import SecurityEventKind, TokenRight
from accounts.models.people import User
from common.ids import new_id

STAFF_IDLE_LIMIT: Final = timedelta(minutes=30)
STAFF_SESSION_LIMIT: Final = timedelta(hours=12)


class SessionQuerySet(models.QuerySet["Session"]):
    def usable(self, moment: datetime) -> "SessionQuerySet":
        """Sessions that still work. Staff have to sign in again after half an hour without a request, and daily."""
        return self.usable_since(moment, moment - STAFF_IDLE_LIMIT, moment - STAFF_SESSION_LIMIT)

    def usable_since(self, moment: Any, seen: Any, signed_in: Any) -> "SessionQuerySet":
        """The same with the limits of staff as times, or as expressions."""
        staff = Q(user__is_staff=True) | Q(user__is_superuser=True)
        fresh = Q(last_seen_at__gt=seen, signed_in_at__gt=signed_in)
        return self.filter(Q(user=None) | ~staff | fresh, expire_date__gt=moment)


class SessionManager(BaseSessionManager.from_queryset(SessionQuerySet)):  # type: ignore[misc]
    """Django's manager of sessions with the queryset above."""


class Session(AbstractBaseSession):
    """A visitor's session on the platform's pages, written by `accounts.sign_in.sessions`.

    `session_key` is the SHA-256 of the key that the cookie holds. `user` and the columns after it are empty until
    somebody signs in. `last_seen_at` is exact to a minute.
    """

    session_key = models.CharField(max_length=64, primary_key=True)
    user = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="sessions")
    device = models.CharField(max_length=300, blank=True)
    network = models.CharField(max_length=64, blank=True)
    signed_in_at = models.DateTimeField(default=now)
    last_seen_at = models.DateTimeField(default=now)

    objects: ClassVar[SessionManager] = SessionManager()

    @classmethod
    def get_session_store_class(cls) -> type[SessionBase]:
        store: type[SessionBase] = import_string(f"{settings.SESSION_ENGINE}.SessionStore")
        return store


class SignInQuerySet(models.QuerySet["SignIn"]):
    def usable(self, moment: datetime) -> "SignInQuerySet":
        return self.filter(ended_at=None, expires_at__gt=moment, user__is_active=True)


class SignIn(models.Model):
    """One sign-in to the developer API and all tokens that came from it. Written by `accounts.sign_in.tokens`.

    Each access and refresh token names its sign-in and works until that ends: by signing out, by the second use of
    a refresh token, or by another password. `refresh_jti` is the id of the one refresh token that has not been used.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="sign_ins")
    refresh_jti = models.CharField(max_length=32)
    # As in a session: it no longer fits once the password is another one.
    auth_hash = models.CharField(max_length=64)
    device = models.CharField(max_length=300, blank=True)
    network = models.CharField(max_length=64, blank=True)
    signed_in_at = models.DateTimeField(default=now)
    last_seen_at = models.DateTimeField(default=now)  # when a token was last issued
    expires_at = models.DateTimeField(db_index=True)
    ended_at = models.DateTimeField(null=True)

    objects = SignInQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.user_id} since {self.signed_in_at:%Y-%m-%d %H:%M}"


class DeveloperTokenQuerySet(models.QuerySet["DeveloperToken"]):
    def usable(self, moment: datetime) -> "DeveloperTokenQuerySet":
        return self.filter(revoked_at=None, expires_at__gt=moment)


class DeveloperToken(models.Model):
    """A token for the developer API that a person made for a script. Made and revoked by `services.developer_tokens`.

    `rights` are values of `TokenRight`; without them it does everything else that the person can do by the API.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="developer_tokens")
    name = models.CharField(max_length=80)
    digest = models.CharField(max_length=64, unique=True)
    last_four = models.CharField(max_length=4)
    created_at = models.DateTimeField(default=now)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)  # exact to a minute
    revoked_at = models.DateTimeField(null=True)
    rights = models.JSONField(default=list, db_default=[])

    objects = DeveloperTokenQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name

    @property
    def right_labels(self) -> list[str]:
        """What its rights allow, in words that go on after "It may also:"."""
        labels = [str(right.label) for right in TokenRight if right in self.rights]
        return [label[:1].lower() + label[1:] for label in labels]


class DeviceGrant(models.Model):
    """A command line that waits for a person to let it in (RFC 8628). Written by `services.device_grants`.

    Waiting while `user` is empty, then agreed or denied by that person, then used. The row goes once it has expired.
    """

    class Answer(models.TextChoices):
        AGREED = "AGREED"
        DENIED = "DENIED"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    device_digest = models.CharField(max_length=64, unique=True)
    user_code_digest = models.CharField(max_length=64, unique=True)
    client_name = models.CharField(max_length=80)
    network = models.CharField(max_length=64, blank=True)
    user = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="+")
    answer = models.CharField(max_length=8, blank=True, choices=Answer.choices)
    created_at = models.DateTimeField(default=now)
    expires_at = models.DateTimeField(db_index=True)
    polled_at = models.DateTimeField(null=True)
    interval = models.PositiveSmallIntegerField(default=5)  # seconds between two polls
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.client_name


class WrongCode(models.Model):
    """A wrong code of somebody's second factor. Counted by `services.second_factor`, and removed after a day."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField(default=now, db_index=True)
    is_mailed = models.BooleanField(default=False)  # whether a mail was sent when this one came

    def __str__(self) -> str:
        return f"{self.user_id} at {self.at:%Y-%m-%d %H:%M}"


# --- What has happened -------------------------------------------------------------------------------


class SecurityEventQuerySet(models.QuerySet["SecurityEvent"]):
    def concerning(self, user: User) -> "SecurityEventQuerySet":
        """What happened to this person, and what this person did to others."""
        return self.filter(Q(user=user) | Q(actor=user))

    def with_people(self, field: str) -> "SecurityEventQuerySet":
        """Add `user_is` and `actor_is`, this field of each. A join would lose the rows of people who are gone."""
        people = {
            f"{role}_is": Subquery(User.objects.filter(pk=OuterRef(f"{role}_id")).values(field))
            for role in ("user", "actor")
        }
        return self.annotate(**people)


class SecurityEvent(models.Model):
    """A line of a person's security log. Written by `services.security_log`.

    Triggers in the database refuse to change a row, and to remove one that is less than a year old
    (`accounts.migrations`, `append_only`). So people are kept as ids without a constraint, and rows outlive accounts.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    at = models.DateTimeField(default=now)
    kind = models.CharField(
        max_length=40
    )  # of SecurityEventKind; without choices, so that a new one needs no migration
    user = models.ForeignKey(User, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+")
    actor = models.ForeignKey(
        User, null=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )
    about = models.CharField(max_length=300, blank=True)  # "Order Bell on Harbour Bakery"
    device = models.CharField(max_length=300, blank=True)
    network = models.CharField(max_length=64, blank=True)

    objects = SecurityEventQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["user", "-id"], name="security_event_of_user"),
            models.Index(fields=["actor", "-id"], name="security_event_by_actor"),
        ]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.title}"

    @property
    def title(self) -> str:
        return SecurityEventKind(self.kind).label
