"""Fields of forms: text, each with a maximum (contract, section 15, "Lengths"), e-mail addresses and phone numbers, pictures. One template
for the whole site (templates/forms/) renders them, and there are a few widgets.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from functools import lru_cache
from typing import Any, Final, TypeVar

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.base import File
from django.core.files.uploadedfile import UploadedFile
from django.core.validators import MaxLengthValidator
from django.forms.renderers import TemplatesSetting
from django.utils.choices import BaseChoiceIterator
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString

from common.contacts import validate_email, validate_phone
from common.files.pictures import BadPicture, Decoded


class TypedEmailField(forms.EmailField):
    default_validators = [validate_email]


class TypedPhoneField(forms.CharField):
    default_validators = [validate_phone]


# --- Fields for text, each with a maximum (contract, section 15, "Lengths") --------------------------

SomeForm = TypeVar("SomeForm", bound=forms.BaseForm)


class Lines(forms.CharField):
    """Text of several lines. A line break counts as one character, although browsers send two."""

    widget = forms.Textarea

    def to_python(self, value: Any) -> str:
        return (super().to_python(value) or "").replace("\r\n", "\n")


def limited(**maxima: int) -> Callable[[type[SomeForm]], type[SomeForm]]:
    """Give maxima to fields of a form that a library made without them."""

    def decorate(form: type[SomeForm]) -> type[SomeForm]:
        fields: dict[str, Any] = form.base_fields  # type: ignore[attr-defined]
        for name, most in maxima.items():
            field = deepcopy(fields[name])  # the library's own form keeps its field
            fields[name] = form.declared_fields[name] = field  # type: ignore[attr-defined]
            field.max_length = most
            field.validators.append(MaxLengthValidator(most))
            if not field.widget.is_hidden:
                field.widget.attrs["maxlength"] = str(most)
        return form

    return decorate


# --- Fields for uploading pictures -------------------------------------------------------------------


class PicturesInput(forms.FileInput):
    allow_multiple_selected = True


class PictureField(forms.FileField):
    """One picture. Its value is a `Decoded`, or None if no file was chosen. `decode` may raise `BadPicture`."""

    widget_class = forms.FileInput

    def __init__(self, *, decode: Callable[[File], Decoded], **options: Any) -> None:
        super().__init__(
            required=False, widget=self.widget_class({"accept": ".png,.jpg,.jpeg,.webp"}), **options
        )
        self.decode = decode

    def clean(self, data: Any, initial: Any = None) -> Any:
        file = super().clean(data, initial)
        return self._decoded(file) if isinstance(file, UploadedFile) else None

    def _decoded(self, file: UploadedFile) -> Decoded:
        try:
            return self.decode(file)
        except BadPicture as error:
            raise ValidationError(str(error)) from None


class PicturesField(PictureField):
    """Several pictures, as a list of `Decoded`. `noun` names them in the error about more than `most`."""

    widget_class = PicturesInput

    def __init__(self, *, most: int, noun: str = "pictures", **options: Any) -> None:
        super().__init__(**options)
        self.most, self.noun = most, noun

    def clean(self, data: Any, initial: Any = None) -> Any:
        files = data if isinstance(data, list | tuple) else [data]
        if len(files) > self.most:
            raise ValidationError(f"Choose at most {self.most} {self.noun}.")
        cleaned = (self._cleaned(file, initial, several=len(files) > 1) for file in files)
        return [picture for picture in cleaned if picture is not None]

    def _cleaned(self, file: Any, initial: Any, *, several: bool) -> Any:
        """Names the file, if there are several."""
        try:
            return super().clean(file, initial)
        except ValidationError as error:
            if not several:
                raise
            raise ValidationError([f"{file.name}: {message}" for message in error.messages]) from None


# --- How forms look ----------------------------------------------------------------------------------

# A value with its label, or a name with a group of such.
Choices = Iterable[tuple[str, Any]]
LISTS_KEPT: Final = 64  # of some 10 kB, the longest of 30


class FormRenderer(TemplatesSetting):
    form_template_name = "forms/form.html"
    field_template_name = "forms/field.html"

    def render(self, template_name: str, context: dict[str, Any], request: Any = None) -> str:
        """The widgets of nearly all fields are written here as Django's templates write them, which include one another
        and look at each attribute twice.
        """
        kind = template_name.removeprefix("django/forms/widgets/").removesuffix(".html")
        if (kind in _OPTIONS and not context["widget"]["wrap_label"]) or kind in _INPUTS:
            return _input(context["widget"])
        if kind == "select":
            return _select(context["widget"])
        return super().render(template_name, context, request)


_INPUTS: Final = frozenset(
    ["checkbox", "date", "datetime", "email", "file", "hidden", "number", "password", "text", "url"]
)
_OPTIONS: Final = frozenset(["checkbox_option", "radio_option"])
OPTION: Final = '<option value="{}"{}>{}</option>'
GROUP: Final = '<optgroup label="{}">{}</optgroup>'


def _input(widget: dict[str, Any]) -> SafeString:
    value = widget["value"]
    return format_html(
        '<input type="{}" name="{}"{}{}>',
        widget["type"],
        widget["name"],
        "" if value is None else format_html(' value="{}"', value),
        _attributes(widget["attrs"]),
    )


def _select(widget: dict[str, Any]) -> SafeString:
    """A `LongSelect` has its options written already."""
    options = widget["options"] if "options" in widget else _groups(widget["optgroups"])
    written = '<select name="{}"{}>{}</select>'
    return format_html(written, widget["name"], _attributes(widget["attrs"]), options)


def _groups(groups: Iterable[tuple[str | None, Iterable[dict[str, Any]], int]]) -> SafeString:
    parts = []
    for name, choices, _ in groups:
        inside = format_html_join("\n", OPTION, map(_parts, choices))
        parts.append(format_html(GROUP, name, inside) if name else inside)
    return format_html_join("", "{}", ((each,) for each in parts))


def _parts(choice: dict[str, Any]) -> tuple[Any, SafeString, Any]:
    return choice["value"], _attributes(choice["attrs"]), choice["label"]


def _attributes(attrs: dict[str, Any]) -> SafeString:
    items = tuple(attrs.items())
    # A text that is safe equals one that somebody typed, and numbers equal others.
    return _of_texts(items) if all(value.__class__ in (str, bool) for _, value in items) else _written(items)


def _written(items: Iterable[tuple[str, Any]]) -> SafeString:
    return format_html_join(
        "",
        " {}{}",
        (
            (name, "" if value is True else format_html('="{}"', value))
            for name, value in items
            if value is not False
        ),
    )


_of_texts = lru_cache(maxsize=1000)(_written)


class _Listed(BaseChoiceIterator):
    """Choices as they were given, or a function that gives them."""

    def __init__(self, choices: Choices | Callable[[], Choices]) -> None:
        self._choices = choices if callable(choices) else tuple(map(_hashable, choices))

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return iter(self._choices() if callable(self._choices) else self._choices)

    def __deepcopy__(self, memo: object) -> "_Listed":
        return self


def _hashable(choice: tuple[str, Any]) -> tuple[str, Any]:
    return (choice[0], tuple(choice[1])) if isinstance(choice[1], list) else choice


class LongSelect(forms.Select):
    """Its options are written once for each list and choice in it."""

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        context = forms.Widget.get_context(self, name, value, attrs)
        context["widget"]["options"] = _options(tuple(self.choices), context["widget"]["value"][0])
        return context


@lru_cache(maxsize=LISTS_KEPT)
def _options(choices: tuple[tuple[str, Any], ...], chosen: str) -> SafeString:
    parts = []
    for value, label in choices:
        if isinstance(label, tuple):
            parts.append(format_html(GROUP, value, _options(label, chosen)))
        else:
            parts.append(_option(value, label, " selected" if value == chosen else ""))
    return format_html_join("\n", "{}", ((each,) for each in parts))


def _option(value: str, label: str, mark: str) -> SafeString:
    """Escaped whatever it is: a list that somebody typed equals one that is safe."""
    return format_html(OPTION, value, mark, escape(label))


class LongChoiceField(forms.ChoiceField):
    """A drop-down of dozens of choices: pairs of texts, or groups of them, or a function that gives tuples of these. Django would look
    at each one for groups and functions and copy it whenever a form is made.
    """

    widget = LongSelect

    @property
    def choices(self) -> Any:
        return self._choices

    @choices.setter
    def choices(self, value: Choices | Callable[[], Choices]) -> None:
        self._choices = self.widget.choices = _Listed(value)


class DescribedChoices(forms.widgets.ChoiceWidget):
    """Choices with more than a label: a sentence (`about`), a technical name (`names`) and a heading (`groups`).

    Each of these maps a choice's value to its text, and `pictures` to the name of one of `components/picture.html`.
    """

    look = "lines"

    def __init__(
        self,
        *,
        about: Mapping[str, str] | None = None,
        names: Mapping[str, str] | None = None,
        groups: Mapping[str, str] | None = None,
        pictures: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.about = about or {}
        self.names = names or {}
        self.groups = groups or {}
        self.pictures = pictures or {}

    def create_option(self, name: str, value: Any, *args: Any, **options: Any) -> dict[str, Any]:
        option = super().create_option(name, value, *args, **options)
        return option | {
            "about": self.about.get(str(value), ""),
            "name_shown": self.names.get(str(value), ""),
            "group": self.groups.get(str(value), ""),
            "picture": self.pictures.get(str(value), ""),
        }


class RadioCards(DescribedChoices, forms.RadioSelect):
    """Large cards side by side, for two or three important choices, or a few that have pictures."""

    look = "cards"


class RadioLines(DescribedChoices, forms.RadioSelect):
    """Lines in a box, for more choices."""


class CheckboxLines(DescribedChoices, forms.CheckboxSelectMultiple):
    """Any number of choices, each with a sentence: permissions, events."""


class SwitchInput(forms.CheckboxInput):
    """On or off."""

    def __init__(self, attrs: dict[str, Any] | None = None, **options: Any) -> None:
        super().__init__({"role": "switch"} | (attrs or {}), **options)
