"""What a decision will bring, counted and said beforehand."""

from collections.abc import Iterator

from installations.models import Installation
from installations.queries import affected_by_approval
from marketplace.models import App, Submission


def of_approval(submission: Submission) -> Iterator[str]:
    """Sentences for who is about to approve (contract sections 2, 3 and 9)."""
    app = submission.app
    if app.suspended_at is not None:
        yield "It stays off the marketplace, since it is suspended."
    elif app.approved_version is None:
        yield "It is listed in the marketplace now, and merchants can install it."
    else:
        yield f"Version {submission.version} takes the place of {app.approved_version.version} in the marketplace now."
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
            "{} installation must agree again. Until then it works on with its present permissions.",
            "{} installations must agree again. Until then they work on with their present permissions.",
        )
    if submission.removed_scopes:
        yield "Every installation loses the permissions that were removed."


def of_rejection(submission: Submission) -> Iterator[str]:
    yield "It is a draft again, which the developer can change and submit anew."
    if submission.app.is_listed and submission.app.approved_version:
        yield f"Version {submission.app.approved_version.version} stays listed."


def of_suspension(app: App) -> Iterator[str]:
    """What holds as long as the suspension does (contract section 6; `installations.authentication`, `webhooks`)."""
    yield "It leaves the marketplace, and nobody can install it."
    yield "What it adds to stores is off: blocks, embeds, hooks and admin pages."
    installed = Installation.objects.active().filter(app=app).count()
    if installed:
        yield _counted(
            installed,
            "{} installation stays, but its access token is refused with 401.",
            "{} installations stay, but their access tokens are refused with 401.",
        )
    yield "It is sent no webhooks. What happens meanwhile is not sent later either; data erasures are sent."


def of_reinstatement(app: App) -> Iterator[str]:
    if app.approved_version is not None:
        yield f"Version {app.approved_version.version} is listed again, and merchants can install it."
    yield "What it adds to stores is on again, and its access tokens work again."
    yield "It is sent webhooks of what happens from then on."


def _counted(number: int, one: str, several: str) -> str:
    return (one if number == 1 else several).format(f"{number:,}")
