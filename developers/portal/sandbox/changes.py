"""The test store's page: its buttons in groups, the newest run, kept in the session, and the events to send with sample data."""

from dataclasses import asdict, dataclass
from typing import Any, Final

from django.http import HttpRequest

from developers.portal.webhooks.forms import example_body
from installations.models import Installation
from marketplace.models import App
from webhooks.catalogue import EVENTS, EventType, without_scope
from webhooks.services.sandbox.changes import CHANGES, ChangeRun, ChangeStep, SandboxChange
from webhooks.services.sandbox.samples import SAMPLES

KEY: Final = "test_run"


def groups() -> list[tuple[str, list[SandboxChange]]]:
    """The acts but the first, which has a button of its own, under their headings."""
    found: dict[str, list[SandboxChange]] = {}
    for act in list(CHANGES.values())[1:]:
        found.setdefault(act.group, []).append(act)
    return list(found.items())


def remember(request: HttpRequest, run: ChangeRun) -> None:
    """Keep the newest run in the session, to be shown after the redirect."""
    request.session[KEY] = asdict(run)


def last_run(request: HttpRequest, app: App) -> ChangeRun | None:
    kept: dict[str, Any] | None = request.session.get(KEY)
    if kept is None or kept["app"] != str(app.pk):
        return None
    return ChangeRun(**kept | {"steps": [ChangeStep(**step) for step in kept["steps"]]})


@dataclass(frozen=True, slots=True)
class SendableEvent:
    """An event that can be sent with sample data. `missing_scope` is what the install lacks to get it."""

    type: EventType
    payload: str  # an example of the whole body
    missing_scope: str


def sample_events(installation: Installation) -> list[SendableEvent]:
    lacking = set(without_scope(SAMPLES, installation.effective_scopes))
    found = (EVENTS[name] for name in SAMPLES)
    return [
        SendableEvent(each, example_body(each), each.scope or "" if each.name in lacking else "")
        for each in found
    ]
