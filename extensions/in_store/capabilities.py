"""An app's capabilities in a store, described for merchants.

The listing, the consent page, the request after an approval and the merchant's switches all show these sentences.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from django.db.models import Case, When

from extensions import definitions
from extensions.enums import EmbedKind, ExtensionType
from extensions.hooks.descriptions import DESCRIPTIONS
from extensions.manifest.content import Defined, definitions_in
from extensions.manifest.reach import Reach, facts_of, reach_of
from extensions.models import Definition, LiveDefinition, Placement
from extensions.queries import approved_manifest
from installations.models import Installation
from marketplace.models import App, AppVersion
from stores.hookpoints import HookPoint

# Of facts only (`Facts`), so that what a merchant has read doesn't change without a question. The developer's texts come before them.
SENTENCES: Final = {
    "block": "A block that you can put on your pages, from {host}.",
    "script": "A script from {script} on every page of your store. It can read and change what a page shows, and read what customers type, at "
    "checkout too.",
    "pin": "Browsers run it only with the content that its developer pinned ({pin}…).",
    "widget": "A widget from {host} on every page of your store, {corner}.",
    "page": "A page in your sidebar, from {host}.",
}
_PAYMENT: Final = (HookPoint.PAYMENT_METHODS, HookPoint.CREATE_PAYMENT)
_PLACES: Final = {"bottom_right": "at the bottom right", "bottom_left": "at the bottom left"}
_SWITCH: Final = "You can turn it off."


@dataclass(frozen=True, slots=True)
class Capability:
    """What an app can do in a store, as one sentence with its details.

    `is_sensitive`: it changes prices or payments, or reads what customers type. `definitions` are the ids
    of the definitions behind it; the two payment hooks are one capability.
    """

    type: ExtensionType
    title: str
    detail: str
    is_sensitive: bool
    definitions: tuple[UUID, ...]


def capabilities_of(found: Iterable[Definition]) -> list[Capability]:
    """Sensitive ones first, in the order of a checkout and of the manifest."""
    rows = sorted(found, key=lambda each: (each.position, each.pk))
    of_type = {kind: [row for row in rows if row.type == kind] for kind in ExtensionType}
    every = [
        *_at_checkout(of_type[ExtensionType.HOOK]),
        *map(_embed, of_type[ExtensionType.EMBED]),
        *map(_block, of_type[ExtensionType.BLOCK]),
        *map(_page, of_type[ExtensionType.ADMIN_PAGE]),
    ]
    return sorted(every, key=lambda each: not each.is_sensitive)


def offered_capabilities(state: App | AppVersion) -> list[Capability]:
    """What an install of this state brings: the working copy's, or those of the current approved version. Two queries."""
    if isinstance(state, App):
        return capabilities_of(Definition.objects.filter(app=state, is_active=True))
    approved = reach_of(definitions_in(approved_manifest(state)))
    in_release = Case(When(definition__app__rolling_version=state, then=True), default=False)
    rows = LiveDefinition.objects.filter(version=state, in_release=in_release)
    return capabilities_of(_as_shown(rows.select_related("definition"), approved))


@dataclass(frozen=True, slots=True)
class Placed:
    """The number of an installation's blocks on pages, and of those pages."""

    blocks: int
    pages: int


def placed(installation: Installation) -> Placed:
    pages = list(
        Placement.objects.filter(installation=installation).order_by().values_list("page", flat=True)
    )
    return Placed(len(pages), len(set(pages)))


def _as_shown(rows: Iterable[LiveDefinition], approved: Reach) -> Iterator[Definition]:
    for row in rows:
        row.definition.content = row.content
        row.definition.content = approved.as_shown(_defined(row.definition))
        yield row.definition


def _block(row: Definition) -> Capability:
    block = definitions.block(row)
    detail = f"{block.description} {_sentence('block', row)}"
    return Capability(ExtensionType.BLOCK, block.name, detail.strip(), False, (row.pk,))


def _embed(row: Definition) -> Capability:
    embed = definitions.embed(row)
    is_script = embed.kind == EmbedKind.GLOBAL_SCRIPT
    what = _sentence("script" if is_script else "widget", row)
    if embed.integrity:
        what += f" {_sentence('pin', row)}"
    detail = f"{embed.description} {what} {_SWITCH}"
    return Capability(ExtensionType.EMBED, embed.name, detail.strip(), is_script, (row.pk,))


def _at_checkout(rows: list[Definition]) -> Iterator[Capability]:
    """Payment methods and their payments are one capability, since neither works alone."""
    ids = {HookPoint(row.key): row.pk for row in rows}
    for point in HookPoint:
        if point not in ids or (point == HookPoint.CREATE_PAYMENT and HookPoint.PAYMENT_METHODS in ids):
            continue
        behind = _PAYMENT if point in _PAYMENT else (point,)
        found = tuple(ids[each] for each in behind if each in ids)
        about = DESCRIPTIONS[point]
        yield Capability(ExtensionType.HOOK, about.may, about.reads, point != HookPoint.VALIDATE, found)


def _page(row: Definition) -> Capability:
    page = definitions.admin_page(row)
    return Capability(ExtensionType.ADMIN_PAGE, page.title, _sentence("page", row), False, (row.pk,))


def _sentence(name: str, row: Definition) -> str:
    facts = facts_of(_defined(row))
    script = urlsplit(facts.script)
    return SENTENCES[name].format(
        host=urlsplit(facts.host).netloc,
        script=f"{script.netloc}{script.path}",
        pin=facts.pin[:20],
        corner=_PLACES.get(facts.corner),
    )


def _defined(row: Definition) -> Defined:
    return Defined(ExtensionType(row.type), row.key, row.position, row.content)
