"""The pictures of a product, in the merchant's order. The path of the first one is `Product.image`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from common.errors import Invalid
from common.files.pictures import Decoded
from stores.models import Product, ProductPicture
from stores.services.catalogue.pictures import save_picture

MAX_PICTURES: Final = 8
MAX_ALT: Final = 200  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureChanges:
    """What happens to a product's pictures.

    `alts` has the new descriptions by id, and `order` ids in their new order. Pictures that it leaves out, because
    someone added them meanwhile, and the `new` ones follow.
    """

    new: Sequence[Decoded] = ()
    alts: dict[UUID, str] = field(default_factory=dict)
    order: Sequence[UUID] = ()
    removed: frozenset[UUID] = frozenset()


def change_pictures(*, product: Product, changes: PictureChanges, now: datetime) -> str:
    """Change the pictures of a locked product. Returns its new `image`, which the caller saves.

    Without pictures, a path that was set before pictures could be uploaded stays. Raises `Invalid`.
    """
    before = list(product.pictures.all())
    kept = [picture for picture in before if picture.pk not in changes.removed]
    if len(kept) + len(changes.new) > MAX_PICTURES:
        raise Invalid.field("pictures", f"A product can have at most {MAX_PICTURES} pictures.")
    ProductPicture.objects.filter(product=product, pk__in=changes.removed).delete()
    places = {picture_id: place for place, picture_id in enumerate(changes.order)}
    kept.sort(key=lambda picture: places.get(picture.pk, len(places)))
    for position, picture in enumerate(kept):
        picture.position = position
        picture.alt = changes.alts.get(picture.pk, picture.alt)[:MAX_ALT]
    ProductPicture.objects.bulk_update(kept, ["position", "alt"])
    for decoded in changes.new:
        picture = ProductPicture(product=product, position=len(kept), created_at=now)
        kept.append(save_picture(picture, decoded))
    if not kept and not before:
        return product.image
    return kept[0].path if kept else ""
