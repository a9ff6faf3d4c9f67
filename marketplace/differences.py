"""The differences between two states of an app, for the portal and the reviewers' pages."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal

from common.text.countries import names
from marketplace.data_terms import days_of
from marketplace.models import FROZEN_FIELDS, App, AppFields, AppVersion, picture_path
from marketplace.scopes import SCOPES

Kind = Literal["text", "json", "scopes", "pictures"]
LineKind = Literal["same", "was", "now", "gap"]

CONTEXT: Final = 2  # lines around a change of JSON that are shown too
KINDS: Final[dict[str, Kind]] = {"scopes": "scopes", "icon": "pictures", "screenshot_ids": "pictures"}
LABELS: Final[dict[str, str]] = {
    field.name: str(field.verbose_name) for field in AppFields._meta.local_fields
} | {"screenshot_ids": "screenshots", "developer_name": "developer\u2019s name"}


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that changed. A value is a tuple with the text or JSON, the scope names or the URLs of pictures; empty for
    none."""

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

    @property
    def lines(self) -> list[tuple[LineKind, str]]:
        """Of JSON: the changed lines with some around them, and `gap` where others are left out."""
        return list(_changed_lines(_indented(self.before), _indented(self.after)))


def differences(before: App | AppVersion, after: App | AppVersion, developer: str = "") -> list[Difference]:
    """The frozen fields that differ, in the model's order, then the developer's name: `differences(version, app)`.

    `developer` is the name that a submission holds, if it isn't that of `after`.
    """
    found = [_difference(field, _values(field, before), _values(field, after)) for field in FROZEN_FIELDS]
    names = (before.shown_developer, developer or after.shown_developer)
    found.append(_difference("developer_name", names[:1], names[1:]))
    return [difference for difference in found if difference.before != difference.after]


def _difference(field: str, before: Sequence[str], after: Sequence[str]) -> Difference:
    label = LABELS[field]
    return Difference(
        field=field,
        label=label[:1].upper() + label[1:],
        kind=KINDS.get(field, "text"),
        before=tuple(before),
        after=tuple(after),
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
    if field == "data_countries":
        return [name for code, name in names().items() if code in state.data_countries]
    if field == "data_retention_days":
        return [] if state.data_retention_days is None else [days_of(state.data_retention_days)]
    if field == "category":
        return [str(state.get_category_display())]
    value: str = getattr(state, field)
    return [value] if value else []


def _indented(value: tuple[str, ...]) -> list[str]:
    return [
        line
        for text in value
        for line in json.dumps(json.loads(text), indent=2, ensure_ascii=False).splitlines()
    ]


def _changed_lines(before: list[str], after: list[str]) -> Iterator[tuple[LineKind, str]]:
    end = 0
    for group in SequenceMatcher(a=before, b=after, autojunk=False).get_grouped_opcodes(CONTEXT):
        if group[0][1] > end:
            yield "gap", "…"
        for tag, first, last, new_first, new_last in group:
            if tag == "equal":
                yield from (("same", line) for line in before[first:last])
                continue
            yield from (("was", line) for line in before[first:last])
            yield from (("now", line) for line in after[new_first:new_last])
        end = group[-1][2]
    if end < len(before):
        yield "gap", "…"
