"""How far an app has come: on its developer's sandbox store, and towards a review. The portal's pages and the API both say it.

The checklist before a submission guesses nothing. Each line is about a fact in the database, or about a rule that the
submission applies too.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.db.models import Max, Min, Q, QuerySet, UUIDField
from django.shortcuts import resolve_url

from common.db.compiled import Compiled, Param
from common.errors import ErrorDetail
from common.times import duration
from extensions.submission import missing, suggested_version
from installations.enums import HistoryKind
from installations.models import Installation
from marketplace import rules
from marketplace.enums import Criterion
from marketplace.models import App
from marketplace.queries import listed_lookalikes, scope_changes
from webhooks import catalogue
from webhooks.models import Attempt

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
class Progress:
    """First times on the developer's sandbox store; None or False for what hasn't happened. `called_at` is the newest time.

    `answer` is a webhook attempt that was answered 2xx.
    """

    installed_at: datetime | None
    called_at: datetime | None
    answer: Attempt | None
    erasure_confirmed_at: datetime | None

    @property
    def webhook_answered(self) -> bool:
        return self.answer is not None


def progress(app: App) -> Progress:
    """Counts every install on the sandbox store, including ended ones."""
    times = _TIMES.first(app=app.pk)
    if not times:
        return Progress(None, None, None, None)
    installed_at, called_at, erasure_confirmed_at = times
    return Progress(installed_at, called_at, _ANSWERED.first(app=app.pk), erasure_confirmed_at)


def _tests() -> QuerySet[Installation]:
    """Only on sandboxes, of which there are few: an app may have 100,000 installations."""
    of_app = Installation.objects.filter(app=Param("app", UUIDField()), business__is_sandbox=True)
    return of_app.filter(is_own=True, is_review=False)


_TIMES: Final[Compiled[Any]] = Compiled(
    lambda: (
        _tests()
        .order_by()
        .values("app")
        .annotate(
            installed=Min("installed_at"),
            called=Max("last_used_at"),
            confirmed=Min("history__at", filter=Q(history__kind=HistoryKind.ERASURE_CONFIRMED)),
        )
        .values_list("installed", "called", "confirmed")
    ),
    prepared_as="portal_first_times",
)
_ANSWERED: Final = Compiled(
    lambda: Attempt.objects.filter(
        delivery__webhook__installation__in=_tests(), http_status__range=(200, 299)
    ).order_by("pk"),
    prepared_as="portal_answered",
)


# The checklist before a submission, by the criteria that reviewers apply


@dataclass(frozen=True, slots=True)
class ChecklistItem:
    """One item of the checklist.

    `kind` is ok, warn (a reviewer will likely question it), bad (blocks the submission), or neutral (can't be checked
    automatically). It is fixed at the `field` of the app or on the page `url`, and `link` is the text of the link there.
    """

    kind: str
    title: str
    about: str = ""
    url: str = ""
    link: str = ""
    field: str = ""


@dataclass(frozen=True, slots=True)
class Readiness:
    groups: Sequence[tuple[Criterion, Sequence[ChecklistItem]]]

    @property
    def blocked(self) -> int:
        """How many lines block the submission."""
        return self._count("bad")

    @property
    def open(self) -> int:
        """How many lines a reviewer will likely question."""
        return self._count("warn")

    def _count(self, kind: str) -> int:
        return sum(line.kind == kind for _, lines in self.groups for line in lines)


def readiness(app: App) -> Readiness:
    """Resolves the Webhook URL's host, which may take two seconds."""
    problems = missing(app)
    seen = progress(app)
    own = {
        Criterion.FUNCTIONALITY: _functionality(app, seen),
        Criterion.SECURITY: _security(app, {problem["field"] for problem in problems}),
        Criterion.SCOPES: _scopes(app),
        Criterion.QUALITY: _quality(app),
        Criterion.POLICY: _policy(app, seen),
    }
    return Readiness([(each, [*_blocking(app, each, problems), *own[each]]) for each in Criterion])


def _blocking(app: App, criterion: Criterion, problems: Iterable[ErrorDetail]) -> list[ChecklistItem]:
    return [
        ChecklistItem("bad", problem["message"], link="Edit listing", field=field)
        for problem in problems
        if _CRITERION_OF.get(field := problem["field"].partition("[")[0], Criterion.FUNCTIONALITY)
        == criterion
    ]


def _functionality(app: App, seen: Progress) -> list[ChecklistItem]:
    test_install = resolve_url("portal:test_install", app.slug)
    test_event = f"{test_install}?events#test-event"
    lines = [
        ChecklistItem("ok", "Installed on your sandbox store")
        if seen.installed_at
        else ChecklistItem(
            "warn", "Not installed on your sandbox store yet", "Reviewers expect that you have tried the app.",
            test_install, "Install on sandbox",
        ),
        ChecklistItem("ok", "Has called the API")
        if seen.called_at
        else ChecklistItem(
            "warn", "Hasn't called the API yet", "Send one request with the test token.",
            test_install, "Get a token",
        ),
    ]  # fmt: skip
    if seen.webhook_answered:
        lines.append(ChecklistItem("ok", "Has answered a webhook with 2xx"))
    elif app.webhook_url:
        about = "Answer one event from your sandbox store with 2xx."
        lines.append(
            ChecklistItem("warn", "Hasn't answered a webhook yet", about, test_event, "Send a test event")
        )
    else:
        lines.append(
            ChecklistItem("neutral", "No Webhook URL", "That's fine for an app that doesn't need events.")
        )
    return lines


def _security(app: App, refused: set[str]) -> list[ChecklistItem]:
    lines = []
    for field, name in (("redirect_url", "Redirect URL"), ("webhook_url", "Webhook URL")):
        url = getattr(app, field)
        if not url or field in refused:
            continue
        if urlsplit(url).scheme == "https":
            lines.append(ChecklistItem("ok", f"The {name} uses HTTPS"))
        else:
            about = "This server accepts plain HTTP because it runs in development mode."
            lines.append(
                ChecklistItem("warn", f"The {name} uses plain HTTP", about, link="Edit listing", field=field)
            )
    if app.webhook_url:
        about = "Answer requests with a wrong or old signature with 401. Reviewers check this."
        lines.append(
            ChecklistItem(
                "neutral", "Signature check", about, resolve_url("portal:checks", app.slug), "Run a check"
            )
        )
    return lines


def _scopes(app: App) -> list[ChecklistItem]:
    lines = []
    if uncovered := catalogue.without_scope(app.webhook_events, app.scopes):
        about = f"The app's scopes don't allow these events: {', '.join(uncovered)}."
        lines.append(
            ChecklistItem("warn", "Scopes and events don't match", about, link="Edit listing", field="scopes")
        )
    elif app.webhook_events:
        lines.append(ChecklistItem("ok", "Scopes and events match"))
    added = scope_changes(app)["added_scopes"]
    if app.approved_version and added:
        about = f"New since the approved version: {', '.join(added)}. You can explain them to merchants when you submit."
        lines.append(ChecklistItem("neutral", "More scopes than before", about))
    else:
        about = f"{', '.join(app.scopes)}. Reviewers compare them with what the app does."
        lines.append(ChecklistItem("neutral", "Requested scopes", about))
    return lines


def _quality(app: App) -> list[ChecklistItem]:
    lines = [
        ChecklistItem(
            "warn", "The description is very short", "Explain what the app does for a merchant.",
            link="Edit listing", field="description",
        )
        if rules.is_short(app.description)
        else ChecklistItem("ok", "The description is long enough"),
        ChecklistItem("ok", "Has an icon")
        if app.icon_id
        else ChecklistItem("warn", "No icon", link="Add an icon", field="icon"),
        ChecklistItem("ok", "Has screenshots")
        if app.screenshot_ids
        else ChecklistItem("warn", "No screenshots", link="Add screenshots", field="screenshots"),
    ]  # fmt: skip
    lines += [
        ChecklistItem("warn", each, link="Edit listing", field="name")
        for each in listed_lookalikes(app).warnings
    ]
    if app.approved_version:
        lines.append(
            ChecklistItem("ok", "Has a new version number")
            if app.version != app.approved_version.version
            else ChecklistItem(
                "neutral", f"Version {app.version} is already approved",
                f"You submit this one as {suggested_version(app)}, or as the number that you enter then.",
            )
        )  # fmt: skip
    return lines


def _policy(app: App, seen: Progress) -> list[ChecklistItem]:
    return [*_contacts(app), *_data_countries(app), *_erasure(app, seen)]


def _contacts(app: App) -> list[ChecklistItem]:
    """An app may be submitted without them, but merchants and reviewers see what is missing."""
    if not app.sees_customers:
        return []
    wanted = (
        ("privacy_url", "privacy policy", "It sees customers' names and addresses. Merchants read it before they install."),
        ("support_url", "support contact", "It sees customers' names and addresses. Merchants need somebody to ask."),
    )  # fmt: skip
    return [
        ChecklistItem("ok", f"Names a {name}")
        if getattr(app, field)
        else ChecklistItem("warn", f"No {name}", about, link=f"Add a {name}", field=field)
        for field, name, about in wanted
    ]


def _data_countries(app: App) -> list[ChecklistItem]:
    if app.lacks_data_countries:
        about = "It sees data about people. Merchants read in which countries it is kept, and for how long."
        title, link = "Doesn't say where the data goes", "Add countries"
        return [ChecklistItem("warn", title, about, link=link, field="data_countries")]
    return [ChecklistItem("ok", "Says where the data goes")] if app.data_countries else []


def _erasure(app: App, seen: Progress) -> list[ChecklistItem]:
    if seen.erasure_confirmed_at:
        return [ChecklistItem("ok", "Has confirmed a data erasure")]
    if not app.webhook_url:
        about = (
            "We send data erasure requests to the Webhook URL. An app that stores no store data needs none."
        )
        return [ChecklistItem("neutral", "Can't receive data erasure requests", about)]
    delay = duration(timedelta(seconds=settings.DATA_ERASURE_DELAY))
    about = (
        f"{delay} after a test uninstall, we ask the app to erase the store's data. It answers 2xx when done."
    )
    erasures = resolve_url("portal:erasures", app.slug)
    return [ChecklistItem("neutral", "No data erasure confirmed yet", about, erasures, "Data erasures")]
