"""The test store's page: its buttons in groups, and the newest run, kept in the session."""

from dataclasses import asdict
from typing import Any, Final

from django.http import HttpRequest

from marketplace.models import App
from webhooks.services.sandbox.changes import CHANGES, ChangeRun, ChangeStep, SandboxChange

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
