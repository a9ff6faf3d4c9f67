"""Forms that change what is saved already: only what the person changed, and never over a change that they haven't seen."""

import base64
import hashlib
import json
from collections.abc import Iterable
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.forms import BoundField, Field, FileField
from django.utils.functional import cached_property

from common import lengths

CONFLICT: Final = 409
SHOWN: Final = "shown"
MEANWHILE: Final = "This field was changed while the page was open. Press the button again to replace what is saved with yours."
EMPTY: Final = "Nothing"


class EditForm(forms.Form):
    """The page has a digest of each value that it shows. A field counts as changed if what was typed differs from that.

    Fields that others changed meanwhile stay, and where the same field was changed, `show_conflicts` shows both. A form without digests,
    such as a program's, is compared with what is saved now.
    """

    shown = forms.CharField(required=False, max_length=lengths.JSON, widget=forms.HiddenInput)

    def get_initial_for_field(self, field: Field, field_name: str) -> Any:
        if field_name == SHOWN:
            values = (name for name in self._seen() if not isinstance(self.fields[name], FileField))
            return written({name: self._digest_now(name) for name in values})
        return super().get_initial_for_field(field, field_name)

    @cached_property
    def changed_data(self) -> list[str]:
        return [name for name in self._seen() if self._is_changed(name)]

    def full_clean(self) -> None:
        """A text from before there was a maximum stays, unless it is changed."""
        if self.is_bound:
            for name in set(self._seen()) - set(self.changed_data):
                kept = self.fields[name].validators
                self.fields[name].validators = [
                    each for each in kept if not isinstance(each, MaxLengthValidator)
                ]
        super().full_clean()

    @property
    def changes(self) -> dict[str, Any]:
        """The values of a valid form that the person changed."""
        return {name: self.cleaned_data[name] for name in self.changed_data}

    def show_conflicts(self) -> bool:
        """Whether a field that the person changed has another value by now than the page showed, and than the person typed.

        Each such field then shows what is saved now, and sending the form again replaces it.
        """
        stale = [name for name in self.changed_data if self._is_stale(name)]
        for name in stale:
            show_theirs(self, name, self._words_now(name))
        if stale:
            now = self._shown | {name: self._digest_now(name) for name in stale}
            sent: Any = self.data
            self.data = sent = sent.copy()
            sent[self.add_prefix(SHOWN)] = written(now)
        return bool(stale)

    @cached_property
    def _shown(self) -> dict[str, str]:
        return read(self.data.get(self.add_prefix(SHOWN), ""))

    def _seen(self) -> list[str]:
        """The fields that a person sees."""
        return [name for name, field in self.fields.items() if not field.widget.is_hidden]

    def _is_changed(self, name: str) -> bool:
        field, bound = self.fields[name], self[name]
        if field.disabled:
            return False
        if isinstance(field, FileField):
            return bool(bound.data)
        if not self._shown:
            return self._digest_now(name) != digest_of(field, bound.data)
        return name in self._shown and self._shown[name] != digest_of(field, bound.data)

    def _is_stale(self, name: str) -> bool:
        now = self._digest_now(name)
        return self._shown.get(name, now) != now != digest_of(self.fields[name], self[name].data)

    def _digest_now(self, name: str) -> str:
        field, value = self.fields[name], self.get_initial_for_field(self.fields[name], name)
        return digest_of(field, field.prepare_value(value))

    def _words_now(self, name: str) -> str:
        return words_of(self[name], self.get_initial_for_field(self.fields[name], name))


def show_theirs(form: forms.Form, name: str, words: str) -> None:
    """An error at a field that somebody else changed, with what is saved now under it (`help_and_errors`)."""
    form.fields[name].theirs = words or EMPTY  # type: ignore[attr-defined]
    form.status = CONFLICT  # type: ignore[attr-defined]
    form.add_error(name, MEANWHILE)


def words_of(bound: BoundField, value: Any) -> str:
    """A saved value as a person reads it: the labels of choices, On or Off, or the text."""
    field: Any = bound.field
    if isinstance(field, forms.BooleanField):
        return "On" if value else "Off"
    if hasattr(field, "choices"):
        labels = {str(key): str(label) for key, label in flat(field.choices)}
        chosen = value if isinstance(value, list | tuple) else [value]
        return ", ".join(labels.get(str(each), str(each)) for each in chosen if each not in (None, ""))
    shown = field.prepare_value(value)
    return "" if shown is None else str(shown)


def flat(choices: Iterable[Any]) -> Iterable[tuple[Any, Any]]:
    for key, label in choices:
        if isinstance(label, list | tuple):
            yield from label
        else:
            yield key, label


def digest_of(field: Field, raw: Any) -> str:
    """Of what was typed, or of what a page shows, read as the field reads it; in any order for a field of several choices."""
    try:
        value = field.to_python(raw)
    except ValidationError:
        value = raw
    return digest(sorted(map(str, value)) if isinstance(value, list | tuple) else value)


def digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=str).replace(r"\r\n", r"\n")
    return base64.urlsafe_b64encode(hashlib.blake2b(text.encode(), digest_size=6).digest()).decode()


def written(digests: dict[str, str]) -> str:
    return " ".join(f"{name}={each}" for name, each in digests.items())


def read(text: str) -> dict[str, str]:
    return dict(each.split("=", 1) for each in text.split() if "=" in each)
