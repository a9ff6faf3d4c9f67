"""Forms for reviewers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django import forms
from django.forms import BoundField
from django.forms.boundfield import BoundWidget

from common.web.forms.edits import EditForm
from common.web.forms.one_time import OneTimeForm
from common.web.forms.texts import Lines
from developers.review.criteria import COMMON_REASONS, INSTRUCTIONS
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
