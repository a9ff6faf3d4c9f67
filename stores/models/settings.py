"""A store: its settings, its pictures, and the counts of its records."""

from django.core.files.storage import default_storage
from django.db import models
from django.utils import timezone

from accounts.models import Business
from common.ids import new_id
from stores.addresses import picture_path, thumbnail_path
from stores.enums import Accent, Headings

DEFAULT_DELIVERY_FEE = 500  # minor units


class StoreTotals(models.Model):
    """Counts of a business's records, so that lists need not count their table for `total`.

    Updated by the services that create and remove rows, last in their transaction, because all changes of a business
    share this row. `last_order_number` hands out order numbers.
    """

    business = models.OneToOneField(
        Business, on_delete=models.CASCADE, primary_key=True, related_name="totals"
    )
    products = models.PositiveIntegerField(
        default=0, help_text="Listed products; archived ones are not counted."
    )
    orders = models.PositiveIntegerField(default=0)
    reviews = models.PositiveIntegerField(default=0)
    last_order_number = models.PositiveIntegerField(default=1000)
    rank_changes = models.PositiveBigIntegerField(
        default=0, help_text="How often a list has changed other than by a new row at the top."
    )

    class Meta:
        verbose_name_plural = "store totals"

    def __str__(self) -> str:
        return f"Totals of {self.business_id}"


class StoredPicture(models.Model):
    """An uploaded picture, re-encoded by `stores.services.catalogue.pictures`. Its file never changes; another picture is another row."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    file = models.FileField(upload_to="stores/", storage=default_storage, max_length=200)
    thumbnail = models.FileField(
        upload_to="stores/",
        storage=default_storage,
        max_length=200,
        help_text="The same picture, at most 480 pixels wide and high.",
    )
    content_type = models.CharField(max_length=20, help_text="Of both files.")
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    alt = models.CharField(
        "description", max_length=200, blank=True, help_text="For people who can't see the picture."
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.alt or str(self.id)

    @property
    def path(self) -> str:
        return picture_path(self.id)

    @property
    def thumbnail_path(self) -> str:
        return thumbnail_path(self.path)


class StorePicture(StoredPicture):
    """The logo or the large picture of a store, to which `StoreSettings` refers, or one in the text of its pages."""

    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="store_pictures")


class StoreSettings(models.Model):
    """A merchant's store settings. There is no row before the first change: `queries.store_settings` knows the defaults.

    Changed only by `stores.services.settings`.
    """

    business = models.OneToOneField(
        Business, on_delete=models.CASCADE, primary_key=True, related_name="store_settings"
    )
    delivery_fee = models.PositiveBigIntegerField(
        default=DEFAULT_DELIVERY_FEE, help_text="Minor units, for one delivery."
    )
    accent = models.CharField(
        "color", max_length=12, choices=Accent.choices, default=Accent.GRAPHITE, db_default=Accent.GRAPHITE
    )
    headings = models.CharField(
        max_length=8, choices=Headings.choices, default=Headings.PLAIN, db_default=Headings.PLAIN
    )
    tagline = models.CharField(
        max_length=120, blank=True, default="", db_default="", help_text="One line about the store."
    )
    hero_text = models.CharField(
        "welcome text",
        max_length=400,
        blank=True,
        default="",
        db_default="",
        help_text="At the top of the home page.",
    )
    logo = models.ForeignKey(
        StorePicture, on_delete=models.SET_NULL, null=True, blank=True, db_index=False, related_name="+"
    )
    hero_picture = models.ForeignKey(
        StorePicture, on_delete=models.SET_NULL, null=True, blank=True, db_index=False, related_name="+"
    )
    seen_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="When the merchant first opened the store as shoppers see it.",
    )

    class Meta:
        verbose_name_plural = "store settings"
        indexes = [
            models.Index(fields=["logo"], name="store_logo", condition=models.Q(logo__isnull=False)),
            models.Index(
                fields=["hero_picture"],
                name="store_hero_picture",
                condition=models.Q(hero_picture__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"Settings of {self.business_id}"
