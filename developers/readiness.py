"""Before a submission: what can be seen from here of the criteria that a reviewer judges by.

Nothing is guessed: a line is about a fact in the database or a rule that the submission applies too.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from django.shortcuts import resolve_url

from common.errors import ErrorDetail
from developers.queries import Progress, progress
from developers.submission import missing
from marketplace.enums import Criterion
from marketplace.models import App
from marketplace.services.reviews import scope_changes
from webhooks import catalogue

SHORT_DESCRIPTION: Final = 30  # characters, under which nobody learns what an app does

_CRITERION_OF: Final = {
    "redirect_url": Criterion.SECURITY,
    "webhook_url": Criterion.SECURITY,
    "scopes": Criterion.SCOPES,
    "name": Criterion.QUALITY,
    "description": Criterion.QUALITY,
    "category": Criterion.QUALITY,
    "version": Criterion.QUALITY,
}


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that was looked at. `kind` is ok, warn (a reviewer will ask), bad (can't be submitted so), or
    neutral (nothing to see from here); `url` is where to mend it, with the words for its link."""

    kind: str
    title: str
    about: str = ""
    url: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class Readiness:
    groups: Sequence[tuple[Criterion, Sequence[Line]]]

    @property
    def blocked(self) -> int:
        """How many lines stand against a submission."""
        return self._count("bad")

    @property
    def open(self) -> int:
        """How many a reviewer is going to ask about."""
        return self._count("warn")

    def _count(self, kind: str) -> int:
        return sum(line.kind == kind for _, lines in self.groups for line in lines)


def readiness(app: App) -> Readiness:
    """Looks the Webhook URL's host up, which may take two seconds."""
    problems = missing(app)
    seen = progress(app)
    own = {
        Criterion.FUNCTIONALITY: _functionality(app, seen),
        Criterion.SECURITY: _security(app, {problem["field"] for problem in problems}),
        Criterion.SCOPES: _scopes(app),
        Criterion.QUALITY: _quality(app),
        Criterion.POLICY: _policy(app, seen),
    }
    return Readiness([(each, [*_refused(app, each, problems), *own[each]]) for each in Criterion])


def _refused(app: App, criterion: Criterion, problems: Iterable[ErrorDetail]) -> list[Line]:
    details = resolve_url("portal:app_edit", app.slug)
    return [
        Line("bad", problem["message"], "", f"{details}#id_{field}", "Edit details")
        for problem in problems
        if _CRITERION_OF.get(field := problem["field"].partition("[")[0], Criterion.FUNCTIONALITY)
        == criterion
    ]


def _functionality(app: App, seen: Progress) -> list[Line]:
    test_install = resolve_url("portal:test_install", app.slug)
    test_event = resolve_url("portal:test_event", app.slug)
    lines = [
        Line("ok", "Installed on your sandbox")
        if seen.installed_at
        else Line(
            "warn", "Not installed on your sandbox yet", "Reviewers expect that you have tried the app.",
            test_install, "Install for test",
        ),
        Line("ok", "Called the API")
        if seen.called_at
        else Line(
            "warn", "Has not called the API yet", "One request with the test token ticks this.",
            test_install, "Get a token",
        ),
    ]  # fmt: skip
    if seen.webhook_answered:
        lines.append(Line("ok", "Answered a webhook with 2xx"))
    elif app.webhook_url:
        about = "The first event on your sandbox that is answered with 2xx ticks this."
        lines.append(Line("warn", "Has not answered a webhook yet", about, test_event, "Send a test event"))
    else:
        lines.append(Line("neutral", "No Webhook URL", "Fine for an app that need not be told of anything."))
    return lines


def _security(app: App, refused: set[str]) -> list[Line]:
    details = resolve_url("portal:app_edit", app.slug)
    lines = []
    for field, name in (("redirect_url", "Redirect URL"), ("webhook_url", "Webhook URL")):
        url = getattr(app, field)
        if not url or field in refused:
            continue
        if urlsplit(url).scheme == "https":
            lines.append(Line("ok", f"The {name} is HTTPS"))
        else:
            about = "Accepted while this server runs for development, and nowhere else."
            lines.append(
                Line("warn", f"The {name} is plain HTTP", about, f"{details}#id_{field}", "Edit details")
            )
    if app.webhook_url:
        about = "A bad or stale signature must be answered with 401. A reviewer looks at that."
        bench = resolve_url("portal:bench", app.slug)
        lines.append(Line("neutral", "Signature check", about, bench, "Signature bench"))
    return lines


def _scopes(app: App) -> list[Line]:
    details = resolve_url("portal:app_edit", app.slug) + "#id_scopes_0"
    lines = []
    if uncovered := catalogue.without_scope(app.webhook_events, app.scopes):
        about = f"Chosen events that no scope of the app allows: {', '.join(uncovered)}."
        lines.append(Line("warn", "Scopes and events don’t fit", about, details, "Edit details"))
    elif app.webhook_events:
        lines.append(Line("ok", "Scopes and events fit together"))
    added = scope_changes(app)["added_scopes"]
    if app.approved_version and added:
        about = f"More than is approved: {', '.join(added)}. When you submit, you can tell merchants why."
        lines.append(Line("neutral", "The scopes grow", about))
    else:
        about = f"{', '.join(app.scopes)}. A reviewer compares them with what the app does."
        lines.append(Line("neutral", "Scopes it asks for", about))
    return lines


def _quality(app: App) -> list[Line]:
    details = resolve_url("portal:app_edit", app.slug)
    lines = [
        Line("ok", "The description says something")
        if len(app.description) >= SHORT_DESCRIPTION
        else Line(
            "warn", "The description is very short", "Say what a merchant gets from the app.",
            f"{details}#id_description", "Edit details",
        ),
        Line("ok", "Has an icon")
        if app.icon_id
        else Line("warn", "No icon", "", f"{details}#id_icon", "Add an icon"),
        Line("ok", "Has screenshots")
        if app.screenshot_ids
        else Line("warn", "No screenshot", "", f"{details}#id_screenshots", "Add screenshots"),
    ]  # fmt: skip
    if app.approved_version:
        lines.append(
            Line("ok", "Has a new version number")
            if app.version != app.approved_version.version
            else Line(
                "warn", f"Still has version {app.version}", "That one is approved already.",
                f"{details}#id_version", "Edit details",
            )
        )  # fmt: skip
    return lines


def _policy(app: App, seen: Progress) -> list[Line]:
    if seen.erasure_confirmed_at:
        return [Line("ok", "Confirmed a data erasure")]
    if not app.webhook_url:
        about = "Data erasures go to the Webhook URL. An app that stores nothing of a shop needs none."
        return [Line("neutral", "Can’t be asked to erase data", about)]
    about = "48 hours after a test uninstall the app is asked to erase what it stored, and answers 2xx."
    erasures = resolve_url("portal:erasures", app.slug)
    return [Line("neutral", "No data erasure seen yet", about, erasures, "Data erasures")]
