"""The session engine (`SESSION_ENGINE`): Django's, with a digest of the key in the database.

The cookie holds the key, the row its SHA-256, so rows that leak open no session. Reading a session is one query as in
Django's engine. Once a minute it writes down when the session was last seen.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Final, cast

from django.contrib.auth.middleware import AuthenticationMiddleware, get_user
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from accounts.models import Session
from common.secrets import digest

SEEN_EVERY: Final = timedelta(minutes=1)
# What the sign-in puts into the session (`accounts.receivers`) and the row shows as columns.
DEVICE, NETWORK, SIGNED_IN_AT = "device", "network", "signed_in_at"
USER: Final = "_auth_user_id"


class SessionStore(DatabaseStore):
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
        row = Session.objects.usable(now).filter(session_key=digest(self.session_key or "")).first()
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
        row.user_id = data.get(USER)
        row.device, row.network = data.get(DEVICE, ""), data.get(NETWORK, "")
        if signed_in_at := data.get(SIGNED_IN_AT):
            row.signed_in_at = datetime.fromisoformat(signed_in_at)
        return row


class Authentication(AuthenticationMiddleware):
    """Django's, but a session that meets a new `SECRET_KEY` keeps its own key, and no cache keeps a page of a session.

    Django would give it another key, and a request that the browser sent meanwhile with the old one would be signed out.
    """

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)

        def user() -> Any:
            with cast(SessionStore, request.session).keeping_key():
                return get_user(request)

        request.user = SimpleLazyObject(user)  # type: ignore[assignment]

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """After a sign-out, the Back button shows nothing of an app, a store or a person."""
        session = request.session
        if session.accessed and not session.is_empty() and not response.has_header("Cache-Control"):
            response["Cache-Control"] = "private, no-store"
        return response
