"""The portal's forms. `marketplace.rules` validates values; the services check the rest."""

from collections.abc import Callable
from itertools import count
from typing import Any, ClassVar, Final

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.shortcuts import resolve_url
from django.utils.text import slugify

from common import lengths
from common.http.url_policy import MAX_URL_LENGTH, origin_of
from common.web.forms.fields import CheckboxLines, Lines, RadioCards
from common.web.forms.pages import OneTimeForm, SecretForm
from developers.portal.examples import ELSEWHERE, EXAMPLES, ON_THIS_MACHINE, Example
from marketplace import rules
from marketplace.enums import Category, ReleaseMode, SubmissionStatus
from marketplace.models import App, Submission
from marketplace.scopes import SCOPE_OF_EVENT, SCOPES


def validator(rule: Callable[[Any], None]) -> Callable[[Any], None]:
    """Turns a rule of the marketplace into a validator of a form field."""

    def validate(value: Any) -> None:
        try:
            rule(value)
        except ValueError as error:
            raise ValidationError(str(error)) from None

    return validate


def subject_of(name: str) -> str:
    """The subject of a scope or event: "Orders" for both `read_orders` and `order.created`."""
    stem = name.partition("_")[2] if name in SCOPES else name.partition(".")[0]
    return (stem if stem.endswith("s") else f"{stem}s").capitalize()


def event_group(name: str) -> str:
    """The heading above an event: its subject and the scope it requires."""
    scope = SCOPE_OF_EVENT.get(name)
    return f"{subject_of(name)}, requires {scope}" if scope else f"{subject_of(name)}, always available"


def text(rule: Callable[[str], None], empty: str, **options: Any) -> forms.CharField:
    options.setdefault("widget", forms.TextInput({"autocomplete": "off"}))
    return forms.CharField(validators=[validator(rule)], error_messages={"required": empty}, **options)


def address(rule: Callable[[str], None], **options: Any) -> forms.CharField:
    widget = forms.URLInput({"autocomplete": "off", "placeholder": "https://"})
    return text(rule, "Enter a redirect URL.", widget=widget, max_length=MAX_URL_LENGTH, **options)


def scope_choices() -> forms.MultipleChoiceField:
    return forms.MultipleChoiceField(
        choices=[(scope.name, scope.sentence) for scope in SCOPES.values()],
        widget=CheckboxLines(
            names={name: name for name in SCOPES}, groups={name: subject_of(name) for name in SCOPES}
        ),
        label="Scopes",
        help_text="Merchants see these sentences before they install the app. Request only what the app uses.",
        error_messages={"required": "Choose at least one scope."},
    )


class AppForm(forms.Form):
    """The fields that an app requires, and its Webhook URL."""

    name = text(rules.name, "Enter a name.", max_length=80, help_text="Shown to merchants.")
    slug = text(
        rules.slug,
        "Enter a slug.",
        max_length=60,
        widget=forms.TextInput(
            {"autocomplete": "off", "spellcheck": "false", "class": "mono", "data-slug-from": "id_name"}
        ),
        help_text="Part of the app's URL in the marketplace. You can't change it later.",
    )
    description = Lines(
        validators=[validator(rules.description)],
        max_length=300,
        widget=forms.Textarea({"rows": 3}),
        help_text="One or two sentences, shown on the app's card in the marketplace.",
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
        help_text="Where we send the merchant's browser after the install, with the authorization code.",
    )
    webhook_url = address(
        rules.webhook_url,
        label="Webhook URL",
        required=False,
        help_text="Where we send events and hook calls. You can add it later.",
    )


EMPTY_APP: Final = ""
DEFAULT_SCOPES: Final = ("read_products", "read_orders")
DEFAULT_DESCRIPTION: Final = "An app in development."


class CreateAppForm(AppForm, SecretForm):
    """The name is enough: whatever else is left empty gets a value that works on the sandbox store."""

    example = forms.ChoiceField(
        choices=[
            (EMPTY_APP, "Empty app"),
            *((example.key, example.title) for example in EXAMPLES.values()),
        ],
        widget=RadioCards(
            about={
                EMPTY_APP: "Only the API and webhooks. Add anything later.",
                **{example.key: example.about for example in EXAMPLES.values()},
            },
            pictures={EMPTY_APP: "shelf"} | {example.key: example.picture for example in EXAMPLES.values()},
        ),
        label="Start from",
        required=False,
        help_text="An example comes with its scopes, its manifest, and a program to copy and run.",
    )
    OPTIONAL: ClassVar = ("slug", "description", "category", "scopes", "redirect_url")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name in self.OPTIONAL:
            self.fields[name].required = False
        self.fields["redirect_url"].help_text = (
            "Where we send the merchant's browser after the install, with the authorization code. If empty, a built-in page "
            "shows the result."
        )
        self.fields[
            "webhook_url"
        ].help_text = "Where your server receives events and hook calls. You can add it later, and watch events in the built-in inbox."
        self.fields[
            "scopes"
        ].help_text = (
            "Merchants see these sentences before they install the app. Empty: those of the example."
        )
        self.fields[
            "slug"
        ].help_text = (
            "Part of the app's URL in the marketplace. It follows the name, and you can't change it later."
        )
        self.fields["category"].choices = Category.choices  # type: ignore[attr-defined]
        self.fields["category"].initial = Category.OTHER

    @property
    def shows_more(self) -> bool:
        """Whether the fields below the fold need to be seen, because one of them has an error or a value."""
        below = ("description", "category", "scopes", "redirect_url", "webhook_url")
        return self.is_bound and any(name in self.errors for name in below)

    @property
    def chosen_example(self) -> Example | None:
        return EXAMPLES.get(self.cleaned_data["example"])

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        example = self.chosen_example
        if cleaned["slug"] in (
            "",
            slugify(cleaned["name"]),
        ):  # it followed the name, so it may follow it further
            cleaned["slug"] = free_slug(cleaned["name"])
        cleaned["description"] = cleaned["description"] or DEFAULT_DESCRIPTION
        cleaned["category"] = cleaned["category"] or Category.OTHER
        cleaned["scopes"] = cleaned["scopes"] or list(example.scopes if example else DEFAULT_SCOPES)
        cleaned["redirect_url"] = cleaned["redirect_url"] or own_redirect_url(cleaned["slug"])
        if example and example.hook and not cleaned["webhook_url"]:
            cleaned["webhook_url"] = local_server()
        return cleaned

    def manifest(self) -> dict[str, Any] | None:
        """The example's manifest, for the server that was entered or one on this machine."""
        example = self.chosen_example
        webhook_url = self.cleaned_data["webhook_url"]
        server = origin_of(webhook_url) if webhook_url else local_server() or ELSEWHERE
        return example.manifest_for(server) if example else None


def free_slug(name: str) -> str:
    """The name as a slug that no app has yet, such as `loyalty-stars-2`."""
    room = rules.LENGTHS["slug"] - 4
    base = slugify(name)[:room].strip("-_") or "app"
    taken = set(App.objects.live().filter(slug__startswith=base).values_list("slug", flat=True))
    candidates = (base if number == 1 else f"{base}-{number}" for number in count(1))
    return next(slug for slug in candidates if slug not in taken)


def own_redirect_url(slug: str) -> str:
    """The built-in Redirect URL of an app: a page of the portal that shows the result."""
    return settings.BASE_URL + resolve_url("portal:redirect_result", slug)


def local_server() -> str:
    """Where an example's program runs, if this server accepts addresses of this machine; otherwise empty."""
    return ON_THIS_MACHINE if settings.DEBUG and settings.ALLOW_LOCAL_DESTINATIONS else ""


class TestNotes(Lines):
    """May stay empty, which its label doesn't offer: a reviewer needs the notes."""

    expected = True


class SubmitForm(forms.Form):
    """The version's number, and notes for a submission. The reason for new scopes is a field only if the app requests new scopes."""

    version = text(
        rules.version,
        "Enter a version.",
        max_length=64,
        widget=forms.TextInput({"autocomplete": "off", "class": "mono"}),
        label="Version number",
    )
    how_to_test = TestNotes(
        validators=[validator(rules.how_to_test)],
        max_length=rules.REMARKS["how_to_test"],
        required=False,
        widget=forms.Textarea({"rows": 5}),
        label="How to test this app",
        help_text="What to click, in which order, and what should happen. Without this, a reviewer can't test your app and will "
        "ask you for it. Don't include your own passwords.",
    )
    scope_reason = Lines(
        validators=[validator(rules.scope_reason)],
        max_length=rules.REMARKS["scope_reason"],
        required=False,
        widget=forms.Textarea({"rows": 3}),
        label="Why do you need this?",
        help_text="Merchants see this when we ask them to approve the new scopes.",
    )

    release = forms.TypedChoiceField(
        choices=ReleaseMode.choices,
        required=False,
        empty_value=ReleaseMode.ALL,
        widget=forms.RadioSelect,
        initial=ReleaseMode.ALL,
        label="How it reaches stores",
        help_text="In steps: 1 % of the stores, then 5, 25 and all of them. It halts by itself if it works worse than the version before.",
    )

    def __init__(
        self, data: Any = None, *, app: App, version: str, previous: Submission | None, scopes_grow: bool
    ) -> None:
        """`version` is suggested, and `previous` is the app's last submission, whose texts are filled in. A first version has no
        stores to reach.
        """
        initial = {"version": version, "how_to_test": previous.how_to_test if previous else ""}
        if previous and previous.status != SubmissionStatus.APPROVED:
            initial["scope_reason"] = previous.scope_reason
        super().__init__(data, initial=initial)
        if not scopes_grow:
            del self.fields["scope_reason"]
        if app.approved_version is None:
            del self.fields["release"]
        elif version != app.version:
            self.fields[
                "version"
            ].help_text = f"{app.version} is approved already. This is the next one by what changed; you may enter another one."


class MessageForm(OneTimeForm):
    """A message to the reviewers of an app."""

    text = Lines(
        validators=[validator(rules.text)],
        max_length=rules.REMARKS["text"],
        widget=forms.Textarea({"rows": 3}),
        label="Message to the reviewer",
        error_messages={"required": "Enter a message."},
    )


class SlugForm(forms.Form):
    """Confirms a destructive action by typing the app's slug."""

    slug = forms.CharField(
        max_length=lengths.IDENTIFIER,
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
            raise ValidationError(f"Type {self.app.slug} exactly as shown.")
        return slug


class RegenerateForm(SlugForm, SecretForm):
    pass
