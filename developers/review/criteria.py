"""The five criteria for reviewers: what to check, and the common reasons for a rejection."""

from collections.abc import Mapping
from typing import Final

from marketplace.enums import Criterion
from marketplace.models import Submission

INSTRUCTIONS: Final[Mapping[Criterion, str]] = {
    Criterion.FUNCTIONALITY: "When you follow the test notes, the app does what its description says.",
    Criterion.SECURITY: "It handles data safely and verifies signatures. See the automatic checks.",
    Criterion.SCOPES: "Each permission is needed for something in the description.",
    Criterion.QUALITY: "The description is clear, and the pictures show the app.",
    Criterion.POLICY: "It doesn't mislead merchants or their customers, and does nothing forbidden.",
}

COMMON_REASONS: Final[Mapping[Criterion, tuple[str, ...]]] = {
    Criterion.FUNCTIONALITY: (
        "The app could not be installed: after the consent, the Redirect URL did not lead to a working page.",
        "The app does not do what its description says.",
        "In the test notes, explain what a reviewer must do, and include a sign-in if one is needed.",
    ),
    Criterion.SECURITY: (
        "Answer 401 at the Webhook URL to requests with a wrong signature or a timestamp older than five minutes.",
        "The Webhook URL refuses correctly signed requests. Hash the raw bytes of the body.",
    ),
    Criterion.SCOPES: (
        "The app requests permissions that nothing in its description needs. Request only the ones it uses.",
        "Explain to merchants why the app needs the added permissions.",
    ),
    Criterion.QUALITY: (
        "Describe what the app does for a merchant, in plain words.",
        "Add screenshots of the app in use.",
        "Use a square icon of at least 256 pixels.",
    ),
    Criterion.POLICY: (
        "The name and pictures must not suggest that the app belongs to someone else.",
        "The app sends data to third parties without mentioning it in its description.",
    ),
}
"""By criterion. Reviewers select reasons and can edit them before they are sent."""


def verdict(submission: Submission, criterion: Criterion) -> str:
    """PASS, FAIL, or "" if not judged yet."""
    return str(submission.findings.get(criterion, {}).get("verdict", ""))


def judged(submission: Submission, wanted: str) -> list[Criterion]:
    """The criteria with this verdict; "" for those not judged yet."""
    return [criterion for criterion in Criterion if verdict(submission, criterion) == wanted]
