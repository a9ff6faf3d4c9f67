"""Fields for uploading pictures."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.base import File
from django.core.files.uploadedfile import UploadedFile

from common.files.pictures import BadPicture, Decoded


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
