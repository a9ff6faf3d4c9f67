"""The session engine (`SESSION_ENGINE`): Django's, with a digest of the key in the database.

The cookie holds the key, the row its SHA-256, so rows that leak open no session. Reading a session is one query as in
Django's engine. Once a minute it writes down when the session was last seen.
"""

from datetime import datetime, timedelta
from typing import Any, Final, cast

from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.utils import timezone

from accounts.models import Session
from common.secrets import digest

SEEN_EVERY: Final = timedelta(minutes=1)
# What the sign-in puts into the session (`accounts.receivers`) and the row shows as columns.
DEVICE, NETWORK, SIGNED_IN_AT = "device", "network", "signed_in_at"
USER: Final = "_auth_user_id"


class SessionStore(DatabaseStore):
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
