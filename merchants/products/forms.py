"""The forms of products and their stock."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from django import forms

from accounts.models import Business
from common import lengths
from common.web.forms.edits import EditForm
from common.web.forms.fields import Lines, PicturesField, SwitchInput
from common.web.forms.pages import OneTimeForm
from merchants.money_field import MoneyField
from stores.models import Product, ProductPicture
from stores.services.catalogue.pictures import MAX_ALT, MAX_PICTURES, PictureChanges, decode

MOST_STOCK = 2_147_483_647  # what the column holds


def _pieces(label: str, help_text: str = "") -> forms.IntegerField:
    return forms.IntegerField(
        label=label,
        required=False,
        min_value=0,
        max_value=MOST_STOCK,
        help_text=help_text,
        widget=forms.TextInput({"inputmode": "numeric", "autocomplete": "off"}),
        error_messages={
            "invalid": "Enter a whole number, such as 12.",
            "min_value": "Enter 0 or more.",
            "max_value": "Enter a smaller number.",
        },
    )


COLUMNS: Final = (
    "name", "description", "price", "category", "stock", "low_stock_threshold", "is_available", "slug",
)  # fmt: skip


IN_ROW: Final = ("price", "stock", "is_available")


class ProductForm(EditForm):
    """A product's columns under their own names, and its pictures. The services check what only they can know."""

    name = forms.CharField(max_length=lengths.NAME, error_messages={"required": "Enter a name."})
    slug = forms.SlugField(
        label="Address",
        max_length=lengths.NAME,
        required=False,
        help_text="The last part of the product's address. Leave it empty to create it from the name.",
        widget=forms.TextInput(
            {"class": "mono", "autocomplete": "off", "spellcheck": "false", "data-slug-from": "id_name"}
        ),
        error_messages={"invalid": "Use letters, digits and hyphens."},
    )
    description = Lines(max_length=lengths.DESCRIPTION, required=False, widget=forms.Textarea({"rows": 4}))
    category = forms.CharField(
        max_length=lengths.NAME,
        required=False,
        widget=forms.TextInput({"list": "categories", "autocomplete": "off"}),
    )
    pictures = PicturesField(
        decode=decode,
        most=MAX_PICTURES,
        label="Upload pictures",
        help_text=f"PNG, JPEG or WebP, at most 5 MiB each and {MAX_PICTURES} for a product.",
    )
    is_available = forms.BooleanField(
        label="Available",
        required=False,
        initial=True,
        widget=SwitchInput,
        help_text="If off, shoppers see it but can't buy it.",
    )
    stock = _pieces("Stock", "Leave it empty to not track the stock.")
    low_stock_threshold = _pieces("Low stock threshold", "With fewer pieces, the product counts as low.")

    field_order = ("name", "description", "price", "pictures", *COLUMNS[3:])

    def __init__(
        self,
        *args: Any,
        business: Business,
        product: Product | None = None,
        pictures: Sequence[ProductPicture] = (),
        **options: Any,
    ) -> None:
        if product:
            options["initial"] = {name: getattr(product, name) for name in COLUMNS}
        super().__init__(*args, **options)
        self.fields["price"] = MoneyField(
            label=f"Price in {business.currency}",
            currency=business.currency,
            error_messages={"required": "Enter a price."},
        )
        self.order_fields(self.field_order)
        if product:
            self.fields[
                "slug"
            ].help_text = "The last part of the product's address. Leave it empty to keep it."
        self.own_pictures = pictures
        for position, picture in enumerate(pictures, 1):
            self._add_picture(picture, position)
        self.has_older_picture = bool(product and product.image and not pictures)
        if self.has_older_picture:
            self.fields["remove_older_picture"] = forms.BooleanField(label="Remove picture", required=False)

    def _add_picture(self, picture: ProductPicture, position: int) -> None:
        places = [(str(place), str(place)) for place in range(1, len(self.own_pictures) + 1)]
        self.fields[f"alt_{picture.pk}"] = forms.CharField(
            label=f"Description of picture {position}",
            max_length=MAX_ALT,
            required=False,
            initial=picture.alt,
        )
        self.fields[f"position_{picture.pk}"] = forms.TypedChoiceField(
            label=f"Position of picture {position}",
            choices=places,
            coerce=int,
            empty_value=None,
            required=False,
            initial=str(position),
        )
        self.fields[f"remove_{picture.pk}"] = forms.BooleanField(
            label=f"Remove picture {position}", required=False
        )

    @property
    def picture_rows(self) -> list[dict[str, Any]]:
        """The product's pictures with their fields."""
        return [
            {
                "picture": picture,
                "alt": self[f"alt_{picture.pk}"],
                "position": self[f"position_{picture.pk}"],
                "remove": self[f"remove_{picture.pk}"],
            }
            for picture in self.own_pictures
        ]

    @property
    def picture_changes(self) -> PictureChanges | None:
        """None if the person changed nothing about the pictures."""
        cleaned, changed, before = (
            self.cleaned_data,
            self.changed_data,
            [each.pk for each in self.own_pictures],
        )
        positions = {
            pk: cleaned[f"position_{pk}"] or place if f"position_{pk}" in changed else place
            for place, pk in enumerate(before, 1)
        }
        of_pictures = (name.rpartition("_")[0] in ("alt", "position", "remove") for name in changed)
        if not cleaned["pictures"] and not any(of_pictures):
            return None
        return PictureChanges(
            new=cleaned["pictures"],
            alts={
                each.pk: cleaned[name] if (name := f"alt_{each.pk}") in changed else each.alt
                for each in self.own_pictures
            },
            order=_reordered(before, positions),
            removed=frozenset(pk for pk in before if cleaned[f"remove_{pk}"]),
        )

    @property
    def changes(self) -> dict[str, Any]:
        """The columns that the person changed. An address that was emptied stays what it was."""
        changed = {name: value for name, value in super().changes.items() if name in COLUMNS}
        if self.cleaned_data.get("remove_older_picture"):
            changed["image"] = ""
        return {name: value for name, value in changed.items() if name != "slug" or value}


class NewProductForm(ProductForm, OneTimeForm):
    @property
    def new_product(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in (*COLUMNS, "pictures")}


def _reordered(before: list[UUID], positions: Mapping[UUID, int]) -> list[UUID]:
    """The pictures by their chosen positions, from 1. One that was moved comes before the one whose position it takes if it
    was moved up, and after it if it was moved down."""
    old = {pk: place for place, pk in enumerate(before, 1)}

    def rank(pk: UUID) -> tuple[int, int]:
        wanted = positions[pk]
        return wanted, (wanted > old[pk]) - (wanted < old[pk])

    return sorted(before, key=rank)


class RowForm(EditForm):
    """What is changed in the list: price, stock, and whether it is sold. A field that wasn't sent stays as it is."""

    stock = _pieces("Stock")
    is_available = forms.BooleanField(label="Available", required=False, widget=SwitchInput)

    def __init__(
        self, data: Any = None, *, currency: str, price: int, stock: int | None, is_available: bool
    ) -> None:
        auto_id = False if data is None else "id_%s"  # the list has a form for each row
        initial = {"price": price, "stock": stock, "is_available": is_available}
        super().__init__(data, initial=initial, auto_id=auto_id)
        self.fields["price"] = MoneyField(
            label="Price", currency=currency, error_messages={"required": "Enter a price."}
        )
        self.order_fields(IN_ROW)
        if data is not None:
            for name in set(IN_ROW) - set(data):
                del self.fields[name]
