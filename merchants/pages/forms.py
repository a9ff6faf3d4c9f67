"""What merchants write on site pages, and the blocks that they can put there."""

from dataclasses import dataclass
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.urls import reverse_lazy

from accounts.models import Business
from common import lengths
from common.web.forms.edits import EditForm
from common.web.forms.fields import Lines
from common.web.forms.pages import OneTimeForm
from extensions import definitions
from extensions.definitions import Block, icon_or_neutral
from extensions.enums import ExtensionType
from extensions.in_store.embeds_and_blocks import PlacedBlock, settings_in_force
from extensions.models import Definition
from extensions.queries import extensions_on
from installations.models import Installation
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


# --- The blocks to choose from -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BlockOption:
    installation: Installation
    definition: Definition
    block: Block

    @property
    def key(self) -> str:
        return str(self.definition.pk)

    @property
    def with_defaults(self) -> PlacedBlock:
        """As it would be on a page before anybody changes its settings."""
        settings = settings_in_force(self.block.settings_schema, self.block.default_config, {})
        return PlacedBlock(self.definition.pk, self.installation, self.block, {}, settings)

    @property
    def icon_name(self) -> str:
        return icon_or_neutral(self.block.icon_name)


def blocks_to_add(business: Business) -> list[BlockOption]:
    """Every block of the business's apps."""
    return [
        choice_of(each.installation, each.definition) for each in extensions_on(business, ExtensionType.BLOCK)
    ]


def choice_of(installation: Installation, definition: Definition) -> BlockOption:
    return BlockOption(installation, definition, definitions.block(definition))


def pages_for_blocks(business: Business) -> QuerySet[SitePage]:
    """Where a block can be added, published pages first."""
    return SitePage.objects.filter(business=business).order_by("-is_published", "title")


def by_category(choices: list[BlockOption]) -> dict[str, list[BlockOption]]:
    """As the picker shows them: the categories by name, each with its blocks by name."""
    groups: dict[str, list[BlockOption]] = {}
    for choice in sorted(
        choices, key=lambda each: (each.block.category.casefold(), each.block.name.casefold())
    ):
        groups.setdefault(choice.block.category, []).append(choice)
    return groups
