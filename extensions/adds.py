"""What an app adds to a store, in words for merchants."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from extensions import definitions
from extensions.enums import EmbedKind, ExtensionType
from extensions.models import Definition, Placement
from installations.models import Installation
from marketplace.models import App
from stores.hookpoints import HookPoint

_AT_CHECKOUT: Final = {
    HookPoint.PAYMENT_METHODS: ("Offers ways to pay", "Beside your own, at checkout."),
    HookPoint.CREATE_PAYMENT: ("Takes payments", "When a customer chooses one of its ways to pay."),
    HookPoint.SHIPPING_RATES: (
        "Sets the delivery price",
        "Your own price counts where it gives no answer.",
    ),
    HookPoint.VALIDATE: ("Can refuse orders", "It says why to the customer."),
    HookPoint.DISCOUNTS: ("Takes discounts off orders", "Never more than the goods cost."),
}
_PLACES: Final = {"bottom_right": "at the bottom right", "bottom_left": "at the bottom left"}
_SWITCH: Final = "On after the install; you can switch it off."


@dataclass(frozen=True, slots=True)
class Added:
    """One thing: what it is, and what the merchant has to do with it."""

    type: ExtensionType
    title: str
    detail: str


def adds(app: App) -> list[Added]:
    """In the order of the manifest, hooks by hook point. One query."""
    rows = list(Definition.objects.filter(app=app, is_active=True).order_by("position", "id"))
    of_type = {kind: [row for row in rows if row.type == kind] for kind in ExtensionType}
    return [
        *(_block(definitions.block(row)) for row in of_type[ExtensionType.BLOCK]),
        *(_embed(definitions.embed(row)) for row in of_type[ExtensionType.EMBED]),
        *_at_checkout({HookPoint(row.key) for row in of_type[ExtensionType.HOOK]}),
        *(_page(definitions.admin_page(row)) for row in of_type[ExtensionType.ADMIN_PAGE]),
    ]


@dataclass(frozen=True, slots=True)
class Placed:
    """How many blocks of an installation stand on pages, and on how many."""

    blocks: int
    pages: int


def placed(installation: Installation) -> Placed:
    pages = list(
        Placement.objects.filter(installation=installation).order_by().values_list("page", flat=True)
    )
    return Placed(len(pages), len(set(pages)))


def _block(block: definitions.Block) -> Added:
    where = "A block that you can put on your pages."
    return Added(ExtensionType.BLOCK, block.name, f"{block.description} {where}".strip())


def _embed(embed: definitions.Embed) -> Added:
    if embed.kind == EmbedKind.GLOBAL_SCRIPT:
        where = "A script on every page of your shop, cart and checkout included."
    else:
        where = f"A widget on every page of your shop, {_PLACES[embed.position]}."
    return Added(ExtensionType.EMBED, embed.name, f"{embed.description} {where} {_SWITCH}".strip())


def _at_checkout(points: set[HookPoint]) -> Iterator[Added]:
    """The two about payments are one thing to a merchant, where both are there."""
    if HookPoint.PAYMENT_METHODS in points:
        points = points - {HookPoint.CREATE_PAYMENT}
    for point, (title, detail) in _AT_CHECKOUT.items():
        if point in points:
            yield Added(ExtensionType.HOOK, title, detail)


def _page(page: definitions.AdminPage) -> Added:
    return Added(ExtensionType.ADMIN_PAGE, page.title, "A page in your sidebar.")
