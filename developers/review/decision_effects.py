"""Sentences that tell a reviewer what a decision changes, shown before it is confirmed."""

from collections.abc import Iterator

from extensions.queries import manifest_document, waiting_in
from installations.models import Installation
from installations.queries import affected_by_approval
from marketplace.enums import ReleaseMode
from marketplace.models import App, Submission


def of_approval(submission: Submission) -> Iterator[str]:
    """Contract, sections 2, 3 and 9."""
    app = submission.app
    if app.suspended_at is not None:
        yield "The app stays off the marketplace, because it is suspended."
    elif app.approved_version is None:
        yield "The app is listed in the marketplace right away, and merchants can install it."
    else:
        yield f"Version {submission.version} replaces {app.approved_version.version} in the marketplace right away."
        if submission.release == ReleaseMode.STEPS:
            yield "It reaches the stores that have the app in steps: 1 % of them first."
    affected = affected_by_approval(app, submission.added_scopes)
    if affected.tests:
        yield _counted(
            affected.tests,
            "{} test install becomes a production install.",
            "{} test installs become production installs.",
        )
    if affected.to_agree:
        yield _counted(
            affected.to_agree,
            "{} installation must approve the new permissions. Until then, it keeps its current ones.",
            "{} installations must approve the new permissions. Until then, they keep their current ones.",
        )
    if added := waiting_in(app, manifest_document(app)):
        names = ", ".join(f"{each.type.label.lower()} {each.key}" for each in added)
        yield f"Each store that has the app is asked to approve: {names}. Until then, these stay off there."
    if app.asks_about_data:
        yield "Each store that has the app is asked to agree to where its data goes. Nothing waits for that."
    if submission.removed_scopes:
        yield "Every installation loses the removed permissions."


def of_rejection(submission: Submission) -> Iterator[str]:
    yield "The app becomes a draft again, which the developer can change and resubmit."
    if submission.app.is_listed and submission.app.approved_version:
        yield f"Version {submission.app.approved_version.version} stays listed."


def of_suspension(app: App) -> Iterator[str]:
    """Contract, section 6."""
    yield "The app leaves the marketplace, and merchants can't install it."
    yield "Its extensions are turned off: blocks, embeds, hooks and admin pages."
    installed = Installation.objects.active().filter(app=app).count()
    if installed:
        yield _counted(
            installed,
            "{} installation remains, but its access token is refused with 401.",
            "{} installations remain, but their access tokens are refused with 401.",
        )
    yield "It receives no webhooks except data erasures. Events during the suspension aren't sent later either."


def of_lifted_suspension(app: App) -> Iterator[str]:
    if app.approved_version is not None:
        yield f"Version {app.approved_version.version} is listed again, and merchants can install it."
    yield "Its extensions are turned on again, and its access tokens work again."
    yield "It receives webhooks for events from then on."


def _counted(number: int, one: str, several: str) -> str:
    return (one if number == 1 else several).format(f"{number:,}")
