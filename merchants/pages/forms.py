"""What merchants write on site pages."""

from typing import Any

from django import forms

from stores.models import SitePage
from stores.services import pages


class SitePageForm(forms.Form):
    """Title, address and text of a site page; the services check and clean them."""

    title = forms.CharField(max_length=200, error_messages={"required": "Enter a title."})
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
    content = forms.CharField(
        label="Text",
        required=False,
        widget=forms.Textarea({"rows": 14, "class": "code-text", "data-markdown": ""}),
        help_text="Markdown: # Heading, **bold**, *italic*, - list, [link](https://…), ![picture](https://…). HTML works, too; scripts, styles and forms are removed.",
    )
    is_published = forms.BooleanField(
        label="Published", required=False, initial=True, help_text="If off, only you can see it."
    )

    @classmethod
    def initial_of(cls, page: SitePage) -> dict[str, object]:
        return {name: getattr(page, name) for name in cls.base_fields} | {"content": pages.editable(page)}

    def changes(self, page: SitePage | None = None) -> dict[str, Any]:
        """For the services, without an address that was left empty and a text that `page` has already."""
        given = {name: value for name, value in self.cleaned_data.items() if name != "slug" or value}
        text = given.pop("content").replace("\r\n", "\n")
        return given if page and text == pages.editable(page).strip() else given | pages.written(text)
