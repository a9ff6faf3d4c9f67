"""Why a submission deserves a reviewer's attention before others. The reasons add up to its place in the queue."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Final

from activity.use import use_in_stores
from conformance.enums import Outcome
from developers.review import checks, submissions
from extensions.enums import ExtensionType
from extensions.manifest.content import Defined
from extensions.manifest.reach import host_of
from marketplace.enums import ReviewKind, SubmissionStatus
from marketplace.models import App, AppVersion, ReviewEntry, Submission
from marketplace.queries import listed_lookalikes
from marketplace.scopes import SCOPES
from marketplace.services.findings import record_risks

MOST_REJECTIONS: Final = 3  # that count


@dataclass(frozen=True, slots=True)
class Risk:
    weight: int  # 1..4
    text: str  # for a pill: a few words

    @property
    def kind(self) -> str:
        """The kind of its pill."""
        return "bad" if self.weight > 3 else "warn" if self.weight > 1 else "neutral"


def risks_of(submission: Submission) -> list[Risk]:
    """The stored reasons, the gravest first."""
    found = [Risk(reason["weight"], reason["text"]) for reason in submission.risk_reasons]
    return sorted(found, key=lambda risk: -risk.weight)


def assess(submission: Submission) -> None:
    """Find the reasons and store them. At the submission, and after each run of the checks, which may add one."""
    record_risks(submission=submission, reasons=[asdict(risk) for risk in _found(submission)])


def _found(submission: Submission) -> Iterator[Risk]:
    yield from _reach(submission)
    app = submission.app
    of_owner = App.objects.owned_by(app.developer_id)
    if not AppVersion.objects.filter(app__in=of_owner).exists():
        yield Risk(2, "First app")
    similar = listed_lookalikes(app)
    if similar.apps:
        yield Risk(4, "Name looks like another\u2019s")
    if similar.developers:
        yield Risk(4, "Developer\u2019s name looks like another\u2019s")
    if rejections := app.submissions.filter(status=SubmissionStatus.REJECTED).count():
        often = "before" if rejections == 1 else f"{rejections} times before"
        yield Risk(min(rejections, MOST_REJECTIONS), f"Rejected {often}")
    suspensions = ReviewEntry.objects.filter(app__in=of_owner, kind=ReviewKind.SUSPENDED)
    if suspensions.exists():
        yield Risk(4, "Suspended before")
    if any(SCOPES[name].sensitive for name in submission.added_scopes):
        yield Risk(2, "Sensitive scopes")
    if unused := len(unused_scopes(app)):
        yield Risk(2, f"{unused} unused scope{'' if unused == 1 else 's'}")
    if failed := len(checks.titles(submission, Outcome.FAIL)):
        yield Risk(min(failed, 3), "1 check failed" if failed == 1 else f"{failed} checks failed")


def unused_scopes(app: App) -> list[str]:
    """Of the approved scopes that it still asks for, those that no store has seen it use in the last 30 days."""
    use = use_in_stores(app, set(app.approved_scopes) & set(app.scopes))
    return use.unused if use else []


def _reach(submission: Submission) -> Iterator[Risk]:
    """What the app would newly do in stores."""
    manifests = submissions.manifests_of(submission, submissions.content_of(submission))
    widened = manifests.reach
    known = {host_of(each) for each in submissions.definitions_before(manifests)}
    if any(_is_script(each) for each in widened):
        yield Risk(4, "New script")
    if any(each.type == ExtensionType.HOOK for each in widened):
        yield Risk(3, "New hook")
    if any(host_of(each) not in {"", *known} for each in widened):
        yield Risk(1, "New host")


def _is_script(defined: Defined) -> bool:
    return defined.content.get("kind") == "GLOBAL_SCRIPT"
