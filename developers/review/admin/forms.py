"""Forms for reviewers, and the five criteria: what to check, and the common reasons for a rejection."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from django import forms
from django.forms import BoundField
from django.forms.boundfield import BoundWidget

from common.web.forms.edits import EditForm
from common.web.forms.fields import Lines
from common.web.forms.pages import OneTimeForm
from marketplace.enums import Criterion, Verdict
from marketplace.models import App, ReviewMessage, Submission
from marketplace.services.reviews import NOTES_MISSING


@dataclass(frozen=True, slots=True)
class CriterionFields:
    """The fields of one criterion."""

    label: str
    instructions: str
    verdict: BoundField
    note: BoundField


class FindingsForm(EditForm):
    """A verdict and a note for each criterion. All are optional until the decision."""

    def __init__(self, data: Mapping[str, Any] | None = None, *, submission: Submission) -> None:
        super().__init__(data)
        self.saved = submission.findings
        for criterion in Criterion:
            finding = submission.findings.get(criterion, {})
            self.fields[f"{criterion}-verdict"] = forms.ChoiceField(
                choices=Verdict.choices,
                required=False,
                widget=forms.RadioSelect,
                initial=finding.get("verdict", ""),
                label=criterion.label,
            )
            self.fields[f"{criterion}-note"] = Lines(
                max_length=1000,
                required=False,
                widget=forms.Textarea({"rows": 2}),
                initial=finding.get("note", ""),
                label="Note for the developer",
            )

    def criteria(self) -> Iterator[CriterionFields]:
        for criterion in Criterion:
            yield CriterionFields(
                str(criterion.label),
                INSTRUCTIONS[criterion],
                self[f"{criterion}-verdict"],
                self[f"{criterion}-note"],
            )

    def findings(self) -> dict[str, dict[str, str]]:
        """The value of `Submission.findings`. Criteria without verdict and note are left out."""
        changes = self.changes
        findings = {
            criterion.value: {
                part: changes.get(f"{criterion}-{part}", self.saved.get(criterion, {}).get(part, ""))
                for part in ("verdict", "note")
            }
            for criterion in Criterion
        }
        return {criterion: finding for criterion, finding in findings.items() if any(finding.values())}


class DecisionForm(forms.Form):
    """Confirms a decision, with notes for the developer that the e-mail preview shows."""

    notes = Lines(
        max_length=Submission._meta.get_field("notes").max_length,
        required=False,
        widget=forms.Textarea({"rows": 6}),
        label="Notes for the developer",
    )


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


class RejectionForm(DecisionForm):
    """Adds selected common reasons to the notes, where the reviewer can edit them."""

    reasons = forms.MultipleChoiceField(
        choices=[(reason, reason) for reasons in COMMON_REASONS.values() for reason in reasons],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Common reasons",
    )

    def __init__(self, *args: Any, notes_required: bool = True, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields[
            "notes"
        ].help_text = "Describe what must change. The e-mail also includes your notes on failed criteria."
        self._notes_required = notes_required

    def reason_groups(self) -> Iterator[tuple[str, list[BoundWidget]]]:
        """Pairs of a criterion's label and its checkboxes."""
        boxes = iter(self["reasons"])
        for criterion, reasons in COMMON_REASONS.items():
            yield str(criterion.label), list(islice(boxes, len(reasons)))

    def clean(self) -> dict[str, Any]:
        """Notes with the reasons. A reason that the notes contain already is not repeated."""
        cleaned = self.cleaned_data
        notes = cleaned.get("notes", "")
        new = [reason for reason in cleaned.get("reasons", ()) if reason not in notes]
        cleaned["notes"] = "\n\n".join(part for part in (notes, *new) if part)
        if self._notes_required and not cleaned["notes"] and "notes" not in self.errors:
            self.add_error("notes", NOTES_MISSING)
        return cleaned


class SuspensionForm(forms.Form):
    reason = Lines(
        max_length=App._meta.get_field("suspension_reason").max_length,
        widget=forms.Textarea({"rows": 3}),
        label="Reason",
        help_text="Shown to the developer in the portal.",
    )


class ReviewerMessageForm(OneTimeForm):
    text = Lines(
        max_length=ReviewMessage._meta.get_field("text").max_length,
        widget=forms.Textarea({"rows": 3}),
        label="Message to the developer",
        error_messages={"required": "Enter a message."},
    )
