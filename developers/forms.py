"""The portal's forms. What a value may be, `marketplace.rules` says; the services say the rest."""

from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile

from common.errors import ServiceError
from common.forms import CheckboxLines
from developers import once
from marketplace import rules
from marketplace.enums import Category, SubmissionStatus
from marketplace.models import App, Submission
from marketplace.scopes import NAMEABLE_EVENTS, SCOPE_OF_EVENT, SCOPES
from marketplace.services.pictures import BadPicture, Decoded, decode


def by(rule: Callable[[Any], None]) -> Callable[[Any], None]:
    """A rule of the marketplace as a validator of a form's field."""

    def validate(value: Any) -> None:
        try:
            rule(value)
        except ValueError as error:
            raise ValidationError(str(error)) from None

    return validate


def subject_of(name: str) -> str:
    """What a scope or event is about: `read_orders` and `order.created` are both about Orders."""
    stem = name.partition("_")[2] if name in SCOPES else name.partition(".")[0]
    return (stem if stem.endswith("s") else f"{stem}s").capitalize()


def event_group(name: str) -> str:
    """The heading above an event: its subject, and the scope that it is sent with."""
    scope = SCOPE_OF_EVENT.get(name)
    return f"{subject_of(name)}, with {scope}" if scope else f"{subject_of(name)}, always"


class Lines(forms.CharField):
    """Text of several lines. Browsers send two characters for each break, of which one is counted."""

    widget = forms.Textarea

    def to_python(self, value: Any) -> str:
        return (super().to_python(value) or "").replace("\r\n", "\n")


class OnceForm(forms.Form):
    """A form whose work is done once (`developers.once`)."""

    once = forms.CharField(widget=forms.HiddenInput, max_length=64, initial=once.new_token)


def show_problems(form: forms.Form, error: ServiceError) -> None:
    """Put what a service found beside the fields, and the rest on top."""
    if not error.details:
        form.add_error(None, error.message)
    for detail in error.details:
        field = detail["field"].partition("[")[0]
        form.add_error(field if field in form.fields else None, detail["message"])


def text(rule: Callable[[str], None], empty: str, **options: Any) -> forms.CharField:
    options.setdefault("widget", forms.TextInput({"autocomplete": "off"}))
    return forms.CharField(validators=[by(rule)], error_messages={"required": empty}, **options)


def address(rule: Callable[[str], None], **options: Any) -> forms.CharField:
    widget = forms.URLInput({"autocomplete": "off", "placeholder": "https://"})
    return text(rule, "Enter a redirect URL.", widget=widget, **options)


def scope_choices() -> forms.MultipleChoiceField:
    return forms.MultipleChoiceField(
        choices=[(scope.name, scope.sentence) for scope in SCOPES.values()],
        widget=CheckboxLines(
            names={name: name for name in SCOPES}, groups={name: subject_of(name) for name in SCOPES}
        ),
        label="Scopes",
        help_text="Merchants read these sentences before they install. Ask for what the app uses and no more.",
        error_messages={"required": "Choose at least one scope."},
    )


class AppForm(forms.Form):
    """What an app must have, and its Webhook URL."""

    name = text(rules.name, "Enter a name.", max_length=80, help_text="What merchants see.")
    slug = text(
        rules.slug,
        "Enter a slug.",
        max_length=60,
        widget=forms.TextInput(
            {"autocomplete": "off", "spellcheck": "false", "class": "mono", "data-slug-from": "id_name"}
        ),
        help_text="Part of the app's address in the marketplace. It can't be changed later.",
    )
    description = Lines(
        validators=[by(rules.description)],
        max_length=300,
        widget=forms.Textarea({"rows": 3}),
        help_text="One or two sentences for the card in the marketplace.",
        error_messages={"required": "Enter a description."},
    )
    category = forms.ChoiceField(
        choices=[("", "Choose a category"), *Category.choices],
        error_messages={"required": "Choose a category."},
    )
    scopes = scope_choices()
    redirect_url = address(
        rules.redirect_url,
        label="Redirect URL",
        help_text="Where the merchant's browser goes after the install, with the authorization code.",
    )
    webhook_url = address(
        rules.webhook_url,
        label="Webhook URL",
        required=False,
        help_text="Where events and hook calls go. It can be added later.",
    )


class CreateAppForm(AppForm, OnceForm):
    pass


class PicturesInput(forms.FileInput):
    allow_multiple_selected = True


class PictureField(forms.FileField):
    """One picture; its value is a `Decoded`, or None where none was chosen."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            required=False, widget=self.widget_class({"accept": ".png,.jpg,.jpeg,.webp"}), **options
        )

    widget_class = forms.FileInput

    def clean(self, data: Any, initial: Any = None) -> Any:
        file = super().clean(data, initial)
        return _decoded(file) if isinstance(file, UploadedFile) else None


class PicturesField(PictureField):
    """Several pictures; a list of `Decoded`."""

    widget_class = PicturesInput

    def clean(self, data: Any, initial: Any = None) -> Any:
        files = data if isinstance(data, list | tuple) else [data]
        if len(files) > rules.MAX_SCREENSHOTS:
            raise ValidationError(f"Choose at most {rules.MAX_SCREENSHOTS} screenshots.")
        cleaned = (PictureField.clean(self, file, initial) for file in files)
        return [picture for picture in cleaned if picture is not None]


def _decoded(file: UploadedFile) -> Decoded:
    try:
        return decode(file)
    except BadPicture as error:
        raise ValidationError(str(error)) from None


class EditAppForm(AppForm):
    """Everything of an app that may be edited. Pictures are added to those that are not taken away."""

    slug = None  # type: ignore[assignment]
    version = text(
        rules.version,
        "Enter a version.",
        max_length=64,
        widget=forms.TextInput({"autocomplete": "off", "class": "mono"}),
        help_text="Three numbers, as in 1.4.0 (Semantic Versioning 2.0).",
    )
    webhook_events = forms.MultipleChoiceField(
        choices=[(name, name) for name in NAMEABLE_EVENTS],
        widget=CheckboxLines(groups={name: event_group(name) for name in NAMEABLE_EVENTS}),
        label="Events for the Webhook URL",
        required=False,
        help_text="Choose none to get every event that the app's scopes allow. Applies at once.",
    )
    icon = PictureField(
        label="Icon", help_text="Square, at least 256 pixels wide. PNG, JPEG or WebP, at most 2 MiB."
    )
    remove_icon = forms.BooleanField(label="Remove the icon", required=False)
    remove_screenshots = forms.MultipleChoiceField(
        label="Remove screenshots", required=False, widget=forms.CheckboxSelectMultiple
    )
    screenshots = PicturesField(
        label="Screenshots",
        help_text="Added to those that are shown; up to 5 in all. PNG, JPEG or WebP, at most 2 MiB each.",
    )

    def __init__(self, data: Any = None, files: Any = None, *, app: App) -> None:
        self.app = app
        super().__init__(data, files, initial=_initial(app))
        shown: Any = self.fields["remove_screenshots"]
        shown.choices = [
            (picture_id, f"Remove screenshot {number}")
            for number, picture_id in enumerate(app.screenshot_ids, start=1)
        ]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if len(self._screenshots()) > rules.MAX_SCREENSHOTS:
            self.add_error("screenshots", f"Choose at most {rules.MAX_SCREENSHOTS} screenshots in all.")
        return cleaned

    def changes(self) -> dict[str, Any]:
        """For `marketplace.services.apps.update_app`."""
        cleaned = self.cleaned_data
        changes = {field: cleaned[field] for field in _initial(self.app)}
        if cleaned["icon"] is not None or cleaned["remove_icon"]:
            changes["icon"] = cleaned["icon"]
        return changes | {"screenshots": self._screenshots()}

    def _screenshots(self) -> list[Decoded | UUID]:
        removed: Iterable[str] = self.cleaned_data.get("remove_screenshots", ())
        kept = [UUID(picture_id) for picture_id in self.app.screenshot_ids if picture_id not in removed]
        return [*kept, *self.cleaned_data.get("screenshots", ())]


def _initial(app: App) -> dict[str, Any]:
    fields = (
        "name", "description", "category", "scopes", "redirect_url", "webhook_url", "version", "webhook_events",
    )  # fmt: skip
    return {field: getattr(app, field) for field in fields}


class SubmitForm(forms.Form):
    """What goes with a submission. Why more scopes are asked for is asked only where they grow."""

    how_to_test = Lines(
        validators=[by(rules.how_to_test)],
        max_length=rules.REMARKS["how_to_test"],
        required=False,
        widget=forms.Textarea({"rows": 5}),
        label="How to test this app",
        help_text="For the reviewer: what to press, in which order, and what should happen. No passwords of yours.",
    )
    scope_reason = Lines(
        validators=[by(rules.scope_reason)],
        max_length=rules.REMARKS["scope_reason"],
        required=False,
        widget=forms.Textarea({"rows": 3}),
        label="Why do you need this?",
        help_text="Merchants read this when they are asked to agree to the new scopes.",
    )

    def __init__(self, data: Any = None, *, before: Submission | None, scopes_grow: bool) -> None:
        """`before` is the app's last submission, whose texts need not be written again."""
        initial = {"how_to_test": before.how_to_test if before else ""}
        if before and before.status != SubmissionStatus.APPROVED:
            initial["scope_reason"] = before.scope_reason
        super().__init__(data, initial=initial)
        if not scopes_grow:
            del self.fields["scope_reason"]


class SlugForm(forms.Form):
    """For acts that break something for others: the app's slug, typed."""

    slug = forms.CharField(
        widget=forms.TextInput({"autocomplete": "off", "spellcheck": "false", "class": "mono"}),
        error_messages={"required": "Enter the app's slug."},
    )

    def __init__(self, *args: Any, app: App, **options: Any) -> None:
        super().__init__(*args, **options)
        self.app = app
        self.fields["slug"].label = f"Type {app.slug} to confirm"

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if slug != self.app.slug:
            raise ValidationError(f"Enter {self.app.slug} as it is written here.")
        return slug


class RegenerateForm(SlugForm, OnceForm):
    pass
