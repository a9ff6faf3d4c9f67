"""The data erasures that an app was asked for, as the page of them shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db.models import UUIDField
from django.utils.safestring import SafeString

from common.db.compiled import AmongIds, Compiled, Param
from common.templatetags.links import address
from common.templatetags.ui import moment, pill, sandbox_mark
from marketplace.models import App
from webhooks.enums import ErasureState
from webhooks.models import Erasure
from webhooks.queries import erasures_of

# Kind, word and icon of a pill.
LOOKS: Final = {
    ErasureState.CONFIRMED: ("ok", "Confirmed", ""),
    ErasureState.OVERDUE: ("bad", "Overdue", ""),
    ErasureState.SENT: ("warn", "Sent", "send"),
    ErasureState.DUE: ("warn", "Due", ""),
    ErasureState.CANCELLED: ("neutral", "Reinstalled", "undo-2"),
    ErasureState.UNADDRESSED: ("bad", "No Webhook URL", "link"),
}


class ErasureRow(NamedTuple):
    """An erasure with its store."""

    state: str
    installation_id: UUID
    uninstalled_at: datetime | None
    due_at: datetime
    sent_at: datetime | None
    confirmed_at: datetime | None
    is_test: bool
    store: str


_IDS: Final[Compiled[Any]] = Compiled(lambda: erasures_of(Param("app", UUIDField())).values_list("pk"))  # type: ignore[arg-type]
_ROWS: Final[Compiled[Any]] = Compiled(
    lambda: (
        Erasure.objects.filter(AmongIds("id", "ids"))
        .order_by("-id")
        .values_list(
            "state", "installation", "installation__uninstalled_at", "due_at", "sent_at", "confirmed_at",
            "installation__is_test", "installation__business__name",
        )
    ),
    prepared_as="portal_erasures",
)  # fmt: skip


def newest_ids(app: App, *, limit: int, offset: int) -> list[UUID]:
    """Those of a page. They are read first: the stores of all would be read before the page too."""
    return [pk for (pk,) in _IDS.rows(limit=limit, offset=offset, app=app.pk)]


def erasure_rows(app: App, ids: Sequence[UUID]) -> list[dict[str, Any]]:
    """As their template writes them."""
    deliveries = f"{address('portal:deliveries', app.slug)}?event=business.data_erasure&installation="
    return [_row(ErasureRow(*each), deliveries) for each in _ROWS.rows(ids=ids)]


def _row(erasure: ErasureRow, deliveries: str) -> dict[str, Any]:
    return {
        "state": pill(*LOOKS[ErasureState(erasure.state)]),
        "url": f"{deliveries}{erasure.installation_id}",
        "store": erasure.store,
        "test": sandbox_mark("Test") if erasure.is_test else SafeString(),
        "uninstalled": moment(erasure.uninstalled_at),
        "due": moment(erasure.due_at),
        "sent": moment(erasure.sent_at, "Not yet"),
        "confirmed": moment(erasure.confirmed_at, "Not yet"),
    }
