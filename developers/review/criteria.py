"""The five criteria in a reviewer's words: what to look at, and the usual reasons for a rejection."""

from collections.abc import Mapping
from typing import Final

from marketplace.enums import Criterion
from marketplace.models import Submission

LOOK_AT: Final[Mapping[Criterion, str]] = {
    Criterion.FUNCTIONALITY: "Installed by the notes on how to test, it does what its description says.",
    Criterion.SECURITY: "It handles data safely and verifies signatures: the checks show what it answered.",
    Criterion.SCOPES: "Each permission is needed for something the description names.",
    Criterion.QUALITY: "The description is clear, and the pictures show the app.",
    Criterion.POLICY: "Nothing misleads merchants or their customers, or is forbidden.",
}

CANNED_REASONS: Final[Mapping[Criterion, tuple[str, ...]]] = {
    Criterion.FUNCTIONALITY: (
        "The app could not be installed: after the consent, the Redirect URL did not lead to a working page.",
        "The app does not do what its description says.",
        "Say in the notes on how to test what a reviewer has to do, with a sign-in where one is needed.",
    ),
    Criterion.SECURITY: (
        "The Webhook URL must answer 401 to a request whose signature is wrong or whose timestamp is older than five minutes.",
        "The Webhook URL refuses requests that are signed rightly. Hash the raw bytes of the body.",
    ),
    Criterion.SCOPES: (
        "The app asks for permissions that nothing in its description needs. Ask for those it uses.",
        "Say why the app needs the added permissions, in words for merchants.",
    ),
    Criterion.QUALITY: (
        "Describe what the app does for a merchant, in plain words.",
        "Add screenshots that show the app at work.",
        "Use a square icon of at least 256 pixels.",
    ),
    Criterion.POLICY: (
        "Name and pictures must not suggest that the app belongs to somebody else.",
        "The app sends data to others without saying so in its description.",
    ),
}
"""By criterion. A reviewer chooses some and edits them before they are sent."""


def verdict(submission: Submission, criterion: Criterion) -> str:
    """PASS, FAIL, or empty where it has not been judged."""
    return str(submission.findings.get(criterion, {}).get("verdict", ""))


def judged(submission: Submission, wanted: str) -> list[Criterion]:
    """The criteria with this verdict; an empty one asks for those that have none yet."""
    return [criterion for criterion in Criterion if verdict(submission, criterion) == wanted]
