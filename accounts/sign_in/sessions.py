"""The session engine (`SESSION_ENGINE`): Django's, with a digest of the key in the database.

The cookie holds the key, the row its SHA-256, so rows that leak open no session. One query reads the session, the person who
signed in, and whether the person's address is confirmed. Once a minute the engine writes down when the session was last seen.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Final, cast

from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.middleware import AuthenticationMiddleware, get_user
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.db.models import CharField, DateTimeField, Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.functional import SimpleLazyObject

from accounts.models import Session, User
from accounts.models.credentials import STAFF_IDLE_LIMIT, STAFF_SESSION_LIMIT
from common.db.compiled import Compiled, Param
from common.secrets import digest

SEEN_EVERY: Final = timedelta(minutes=1)
# What the sign-in puts into the session (`accounts.receivers`) and the row shows as columns.
DEVICE, NETWORK, SIGNED_IN_AT = "device", "network", "signed_in_at"


def _usable() -> QuerySet[Session]:
    limits = (Param(name, DateTimeField()) for name in ("now", "seen", "signed_in"))
    verified = EmailAddress.objects.filter(
        user=OuterRef("user_id"), email=OuterRef("user__email"), verified=True
    )
    return (
        Session.objects.usable_since(*limits)
        .filter(session_key=Param("key", CharField()))
        .select_related("user")
        .annotate(is_confirmed=Exists(verified))
    )


# Every page asks this. Built each time, it would cost more than its row.
_USABLE: Final = Compiled(_usable, prepared_as="accounts_session")


class SessionStore(DatabaseStore):
    """`row` is what the session was read from, None for a new one."""

    row: Any = None
    _keeps_key = False

    @contextmanager
    def keeping_key(self) -> Iterator[None]:
        """Within the block, nothing gives the session another key."""
        self._keeps_key = True
        try:
            yield
        finally:
            self._keeps_key = False

    def cycle_key(self) -> None:
        if not self._keeps_key:
            super().cycle_key()

    @classmethod
    def get_model_class(cls) -> type[Session]:
        return Session

    def load(self) -> dict[str, Any]:
        now = timezone.now()
        row = _USABLE.first(
            now=now,
            seen=now - STAFF_IDLE_LIMIT,
            signed_in=now - STAFF_SESSION_LIMIT,
            key=digest(self.session_key or ""),
        )
        self.row = row
        if row is None:
            self._session_key = None
            return {}
        if now - row.last_seen_at >= SEEN_EVERY:
            Session.objects.filter(pk=row.pk).update(last_seen_at=now)
        return self.decode(row.session_data)

    def exists(self, session_key: str) -> bool:
        return Session.objects.filter(session_key=digest(session_key)).exists()

    def delete(self, session_key: str | None = None) -> None:
        key = session_key or self.session_key
        if key:
            Session.objects.filter(session_key=digest(key)).delete()

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        row = cast(Session, super().create_model_instance(data))
        row.session_key = digest(row.session_key)
        row.user_id = data.get(SESSION_KEY)
        row.device, row.network = data.get(DEVICE, ""), data.get(NETWORK, "")
        if signed_in_at := data.get(SIGNED_IN_AT):
            row.signed_in_at = datetime.fromisoformat(signed_in_at)
        return row


def _read_with(session: SessionStore) -> User | None:
    """The person, as `get_user` would read them, from the session's row. None where it has more to check, or more to do."""
    proof, backend = session.get(HASH_SESSION_KEY), session.get(BACKEND_SESSION_KEY)
    user = session.row.user if session.row is not None else None
    if (
        user is None
        or not user.is_active
        or backend not in settings.AUTHENTICATION_BACKENDS
        or not constant_time_compare(proof or "", user.get_session_auth_hash())
    ):
        return None
    return cast(User, user)


class Authentication(AuthenticationMiddleware):
    """Django's, but a session that meets a new `SECRET_KEY` keeps its own key, and no cache keeps a page of a session.

    Django would give it another key, and a request that the browser sent meanwhile with the old one would be signed out.
    """

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)

        def user() -> Any:
            session = cast(SessionStore, request.session)
            if (known := _read_with(session)) is not None:
                return known
            with session.keeping_key():
                return get_user(request)

        request.user = SimpleLazyObject(user)  # type: ignore[assignment]

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """After a sign-out, the Back button shows nothing of an app, a store or a person."""
        session = request.session
        if session.accessed and not session.is_empty() and not response.has_header("Cache-Control"):
            response["Cache-Control"] = "private, no-store"
        return response
