"""The details of an app: sections with a page each, their form, and the page of a field."""

from collections.abc import Iterable
from typing import Any, Final
from uuid import UUID

import orjson
from django import forms

from common.files.pictures import Decoded
from common.templatetags import links
from common.text import countries
from common.web.forms.edits import SHOWN, EditForm
from common.web.forms.fields import CheckboxLines, Lines, PictureField, PicturesField
from developers.portal.forms import AppForm, address, event_group, text, validator
from developers.portal.webhooks.filter_field import FilterField, check
from installations.models import Installation
from marketplace import rules
from marketplace.data_terms import MAX_COUNTRIES, MAX_DAYS, MAX_PROCESSORS
from marketplace.models import App
from marketplace.scopes import NAMEABLE_EVENTS
from marketplace.services.pictures import MAX_BYTES, decode
from webhooks.catalogue import SUBSCRIBABLE
from webhooks.insight.filtered import FilterTrial, try_filter

LISTING: Final = "listing"
PICTURES: Final = "pictures"
EVENTS: Final = "events"
SECTIONS: Final[dict[str, str]] = {
    LISTING: "Listing",
    PICTURES: "Pictures",
    "access": "Access",
    EVENTS: "Events",
}
"""The sections' names by their keys, which are parts of URLs."""

FILE: Final = f"PNG, JPEG or WebP, at most {MAX_BYTES // 2**20} MiB"
ALT: Final = "alt_"
_SECTION_OF: Final = {
    "icon": PICTURES,
    "remove_icon": PICTURES,
    "screenshots": PICTURES,
    "remove_screenshots": PICTURES,
    "scopes": "access",
    "redirect_url": "access",
    "webhook_url": EVENTS,
    "webhook_events": EVENTS,
    "webhook_filter": EVENTS,
}


def section_of(field: str) -> str:
    """The key of the section that a field of the app is in."""
    return PICTURES if field.startswith(ALT) else _SECTION_OF.get(field, LISTING)


def section_url(app: App, section: str) -> str:
    """The page of a section."""
    return links.address("portal:app_edit", app.slug, *([] if section == LISTING else [section]))


def field_url(app: App, field: str) -> str:
    """Where a field of the app is edited: a page and an anchor."""
    return f"{section_url(app, section_of(field))}#id_{field}"


class EditAppForm(AppForm, EditForm):
    """One section of what a developer can edit. New screenshots are added to those that aren't removed."""

    slug = None  # type: ignore[assignment]
    name = text(rules.name_in_use, "Enter a name.", max_length=80, help_text="Shown to merchants.")
    version = text(
        rules.version,
        "Enter a version.",
        max_length=64,
        widget=forms.TextInput({"autocomplete": "off", "class": "mono"}),
        help_text="Three numbers, such as 1.4.0 (Semantic Versioning 2.0).",
    )
    webhook_events = forms.MultipleChoiceField(
        choices=[(name, name) for name in NAMEABLE_EVENTS],
        widget=CheckboxLines(groups={name: event_group(name) for name in NAMEABLE_EVENTS}),
        label="Only these events",
        required=False,
        help_text="Choose events to receive only those. Without a choice, the app receives every event that its scopes allow.",
    )
    webhook_filter = FilterField(
        label="Filter",
        required=False,
        help_text="Fields are those of the event's data, such as amount. Without conditions, every event above is delivered.",
    )
    long_description = Lines(
        validators=[validator(rules.long_description)],
        max_length=rules.LENGTHS["long_description"],
        required=False,
        widget=forms.Textarea({"rows": 8}),
        label="Long description",
        help_text="What the app does, for whom, and what it costs. Markdown: ## heading, **bold**, - list, [text](https://…).",
    )
    support_url = forms.CharField(
        validators=[validator(lambda value: rules.support_url(rules.with_mailto(value)))],
        max_length=2048,
        required=False,
        widget=forms.TextInput({"autocomplete": "off", "placeholder": "help@example.com"}),
        label="Support",
        help_text="Where merchants get help: an e-mail address, or a link.",
    )
    privacy_url = address(
        rules.privacy_url,
        label="Privacy policy",
        required=False,
        help_text="A link to what your app does with the data of a store.",
    )
    data_countries = forms.MultipleChoiceField(
        choices=countries.choices(),
        validators=[validator(rules.data_countries)],
        widget=CheckboxLines,
        label="Countries in which you keep data of stores",
        required=False,
        help_text=f"Those of your servers, backups and of others who process it for you. At most {MAX_COUNTRIES}. Merchants read them.",
    )
    data_retention_days = forms.IntegerField(
        min_value=0,
        max_value=MAX_DAYS,
        required=False,
        widget=forms.NumberInput({"autocomplete": "off"}),
        label="Days for which you keep it",
        help_text="0 if you keep nothing. Empty: as long as the app is installed.",
    )
    data_processors = text(
        rules.data_processors,
        "",
        required=False,
        max_length=MAX_PROCESSORS,
        label="Others who process it",
        help_text="Companies that process data of stores for you, such as your mail service. No links.",
    )
    icon = PictureField(
        decode=decode,
        label="Icon",
        help_text=f"Square, at least {rules.ICON_WIDTH} pixels wide. {FILE}.",
    )
    remove_icon = forms.BooleanField(label="Remove the icon", required=False)
    remove_screenshots = forms.MultipleChoiceField(
        label="Remove screenshots", required=False, widget=forms.CheckboxSelectMultiple
    )
    screenshots = PicturesField(
        decode=decode,
        most=rules.MAX_SCREENSHOTS,
        noun="screenshots",
        label="Add screenshots",
        help_text=f"Up to {rules.MAX_SCREENSHOTS} in total, at least {rules.SCREENSHOT_WIDTH:,} pixels wide. {FILE} each. "
        "Describe them once they are saved.",
    )

    def __init__(self, data: Any = None, files: Any = None, *, app: App, section: str = LISTING) -> None:
        """`section` is a key of `SECTIONS`. Raises `KeyError` for another."""
        self.app = app
        super().__init__(data, files, initial=_initial(app))
        self._add_screenshots(app)
        for name in [name for name in self.fields if name != SHOWN and section_of(name) != section]:
            del self.fields[name]

    def _add_screenshots(self, app: App) -> None:
        """A box to remove each screenshot, and a field with its description."""
        shown: Any = self.fields["remove_screenshots"]
        shown.choices = [
            (picture_id, f"Remove screenshot {number}")
            for number, picture_id in enumerate(app.screenshot_ids, start=1)
        ]
        for number, picture_id in enumerate(app.screenshot_ids, start=1):
            self.fields[_alt(picture_id)] = text(
                rules.screenshot_alt,
                "",
                required=False,
                max_length=rules.MAX_ALT_TEXT,
                label=f"What screenshot {number} shows",
                initial=app.alt_texts.get(picture_id, ""),
            )

    @property
    def current_screenshots(self) -> list[dict[str, Any]]:
        """For the template: each with its `picture_id`, its field `alt` and its box `remove`."""
        boxes = self["remove_screenshots"]
        return [
            {"picture_id": picture_id, "alt": self[_alt(picture_id)], "remove": box}
            for picture_id, box in zip(self.app.screenshot_ids, boxes, strict=True)
        ]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if len(self._screenshots()) > rules.MAX_SCREENSHOTS:
            self.add_error("screenshots", f"Choose at most {rules.MAX_SCREENSHOTS} screenshots in total.")
        if "webhook_filter" in self.fields and "webhook_events" in cleaned:
            check(self, "webhook_filter", cleaned["webhook_events"])
        return cleaned

    def trial(self, installation: Installation) -> FilterTrial | None:
        """What the filter that was typed, or else the saved one, does to the newest events. None with problems in it."""
        if self.is_bound and self.errors.keys() & {"webhook_filter", "webhook_events"}:
            return None
        values = self.cleaned_data if self.is_bound else self.initial
        return try_filter(installation, values["webhook_filter"], values["webhook_events"] or SUBSCRIBABLE)

    @property
    def changes(self) -> dict[str, Any]:
        """For `marketplace.services.apps.update_app`."""
        changed = super().changes
        changes = {field: value for field, value in changed.items() if field in _initial(self.app)}
        if "icon" in changed or changed.get("remove_icon"):
            changes["icon"] = changed.get("icon")
        if any(name in ("screenshots", "remove_screenshots") or name.startswith(ALT) for name in changed):
            alts = {
                each: changed.get(_alt(each), self.app.alt_texts.get(each, ""))
                for each in self.app.screenshot_ids
            }
            changes["screenshot_alts"] = [alts[str(each)] for each in self._kept()]
            changes["screenshots"] = self._screenshots()
        return changes

    def _screenshots(self) -> list[Decoded | UUID]:
        return [*self._kept(), *self.cleaned_data.get("screenshots", ())]

    def _kept(self) -> list[UUID]:
        removed: Iterable[str] = self.cleaned_data.get("remove_screenshots", ())
        return [UUID(picture_id) for picture_id in self.app.screenshot_ids if picture_id not in removed]


def _alt(picture_id: str) -> str:
    """The name of the field that describes a screenshot."""
    return f"{ALT}{picture_id}"


def _initial(app: App) -> dict[str, Any]:
    fields = (
        "name", "description", "category", "scopes", "redirect_url", "webhook_url", "version", "webhook_events",
        "long_description", "privacy_url", "data_countries", "data_retention_days", "data_processors",
    )  # fmt: skip
    values = {field: getattr(app, field) for field in fields}
    webhook_filter = app.webhook_filter and orjson.loads(app.webhook_filter)
    return values | {"support_url": app.support_words, "webhook_filter": webhook_filter}
