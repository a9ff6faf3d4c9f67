"""The differences between two states of an app, for the portal and the reviewers' pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from marketplace.models import FROZEN_FIELDS, AppFields, picture_path
from marketplace.scopes import SCOPES

Kind = Literal["text", "scopes", "pictures"]

KINDS: Final[dict[str, Kind]] = {"scopes": "scopes", "icon": "pictures", "screenshot_ids": "pictures"}
LABELS: Final[dict[str, str]] = {
    field.name: str(field.verbose_name) for field in AppFields._meta.local_fields
} | {"screenshot_ids": "screenshots"}


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that changed. A value is a tuple with the text, the scope names or the URLs of pictures; empty for none."""

    field: str
    label: str
    kind: Kind
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def added(self) -> list[str]:
        return [value for value in self.after if value not in self.before]

    @property
    def removed(self) -> list[str]:
        return [value for value in self.before if value not in self.after]

    @property
    def is_new_order(self) -> bool:
        """Whether only the order of the values changed."""
        return not self.added and not self.removed


def differences(before: AppFields, after: AppFields) -> list[Difference]:
    """The frozen fields that differ, in the model's order: `differences(version, app)`."""
    found = [_difference(field, before, after) for field in FROZEN_FIELDS]
    return [difference for difference in found if difference.before != difference.after]


def _difference(field: str, before: AppFields, after: AppFields) -> Difference:
    label = LABELS[field]
    return Difference(
        field=field,
        label=label[:1].upper() + label[1:],
        kind=KINDS.get(field, "text"),
        before=tuple(_values(field, before)),
        after=tuple(_values(field, after)),
    )


def _values(field: str, state: AppFields) -> Sequence[str]:
    if field == "scopes":
        return [name for name in SCOPES if name in state.scopes]
    if field == "icon":
        return [state.icon_path] if state.icon_path else []
    if field == "screenshot_ids":
        return [picture_path(picture_id) for picture_id in state.screenshot_ids]
    if field == "alt_texts":
        return [text for text in state.screenshot_alts if text]
    if field == "category":
        return [str(state.get_category_display())]
    value: str = getattr(state, field)
    return [value] if value else []
