"""What merchants write on site pages."""

from typing import Any

from django import forms
from django.urls import reverse_lazy

from common import lengths
from common.web.forms.edits import EditForm
from common.web.forms.one_time import OneTimeForm
from common.web.forms.texts import Lines
from stores.models import SitePage
from stores.services import pages


class _AboutPage(forms.Form):
    """Title, address and text of a site page; the services check and clean them."""

    title = forms.CharField(max_length=lengths.NAME, error_messages={"required": "Enter a title."})
    slug = forms.SlugField(
        label="Address",
        max_length=120,
        required=False,
        help_text="The last part of the page's address. Leave it empty to create it from the title.",
        widget=forms.TextInput(
            {"class": "mono", "autocomplete": "off", "spellcheck": "false", "data-slug-from": "id_title"}
        ),
        error_messages={"invalid": "Use letters, digits and hyphens."},
    )
    content = Lines(
        label="Text",
        max_length=lengths.PAGE,
        required=False,
        widget=forms.Textarea(
            {"rows": 14, "class": "code-text", "data-text-editor": reverse_lazy("merchants:page_picture")}
        ),
        help_text="Markdown: # Heading, **bold**, *italic*, - list, [link](https://…), ![picture](https://…). HTML works, too; scripts, styles and forms are removed.",
    )
    is_published = forms.BooleanField(
        label="Published", required=False, initial=True, help_text="If off, only you can see it."
    )


class SitePageForm(_AboutPage, EditForm):
    def __init__(self, data: Any = None, *, page: SitePage) -> None:
        initial = {"title": page.title, "slug": page.slug, "is_published": page.is_published}
        super().__init__(data, initial=initial | {"content": pages.editable(page)})

    @property
    def changes(self) -> dict[str, Any]:
        return _for_service(super().changes)


class NewSitePageForm(_AboutPage, OneTimeForm):
    @property
    def new_page(self) -> dict[str, Any]:
        return _for_service({name: self.cleaned_data[name] for name in _AboutPage.base_fields})


def _for_service(given: dict[str, Any]) -> dict[str, Any]:
    """Without an address that was left empty, and with the text as it is written."""
    fields = {name: value for name, value in given.items() if name != "content" and (name != "slug" or value)}
    if "content" in given:
        fields |= pages.written(given["content"])
    return fields
