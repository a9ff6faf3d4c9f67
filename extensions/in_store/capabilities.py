"""An app's capabilities in a store, described for merchants: what it adds, what a merchant is asked for since an approval that widened its
reach (contract, section 2, "Reach"), and what can be switched and limited.

The listing, the consent page, the request after an approval and the merchant's switches all show these sentences.
"""

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

from django.db.models import Case, DateTimeField, Exists, F, IntegerField, OuterRef, Q, UUIDField, Value, When
from django.db.models.functions import Cast
from django.utils import timezone

from common.db.compiled import AmongIds, Compiled, Param
from extensions import definitions
from extensions.enums import EmbedKind, ExtensionType
from extensions.hooks.descriptions import DESCRIPTIONS
from extensions.manifest.content import Defined, definitions_in
from extensions.manifest.reach import Reach, facts_of, reach_of
from extensions.models import (
    Definition,
    ExtensionState,
    HookPreference,
    LiveDefinition,
    Placement,
    ReachRequest,
)
from extensions.queries import approved_manifest
from extensions.services.extension_states import SWITCHABLE
from installations.models import RECONSENT_REST, Installation, is_in_release
from marketplace.data_terms import DataTerms
from marketplace.models import App, AppVersion
from stores.hookpoints import HookPoint

# Of facts only (`Facts`), so that what a merchant has read doesn't change without a question. The developer's texts come before them.
SENTENCES: Final = {
    "block": "A block that you can put on your pages, from {host}. It may keep with an order what its customer chooses there.",
    "script": "A script from {script} on every page of your store. It can read and change what a page shows, and read what customers type, at "
    "checkout too.",
    "pin": "Browsers run it only with the content that its developer pinned ({pin}…).",
    "widget": "A widget from {host} on every page of your store, {corner}. It may keep with an order what its customer chooses there.",
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


# --- Requests since an approval ----------------------------------------------------------------------

# The scopes that an approval added are asked for on the same page; `installations` knows those.


@dataclass(frozen=True, slots=True)
class Requested:
    """What a store is asked for besides scopes: what the version that it runs would add after a yes, and where its data goes (None: it
    isn't asked about that) beside what it has `agreed` to.
    """

    capabilities: list[Capability]
    data: DataTerms | None
    agreed: DataTerms | None = None

    def __bool__(self) -> bool:
        return bool(self.capabilities or self.data)


def requested(installation: Installation) -> Requested:
    """At most one query."""
    if not installation.is_behind:
        return Requested([], None)
    rows = ReachRequest.objects.filter(
        version=installation.agreed_version_id, in_release=installation.is_in_release
    )
    found = list(rows.select_related("definition", "version"))
    asked = requested_by(found)
    return replace(asked, agreed=found[0].version.data_terms) if asked.data else asked


def requested_by(rows: Iterable[ReachRequest]) -> Requested:
    """Of the rows of one store, with their definitions."""
    found, data = [], None
    for row in rows:
        if row.definition is None:
            data = DataTerms(**row.content)
        else:
            row.definition.content = row.content
            found.append(row.definition)
    return Requested(capabilities_of(found), data)


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """`is_now`: its merchant is asked now. After a no they aren't for 14 days, unless a later version asks for reach."""

    is_now: bool
    for_reach: bool


def open_requests(installations: Iterable[Installation], at: datetime | None = None) -> dict[UUID, bool]:
    """The installations whose merchants have an open request, for scopes or reach, by id: whether they are asked now. One query."""
    return {pk: each.is_now for pk, each in requests_of(installations, at).items()}


def requests_of(installations: Iterable[Installation], at: datetime | None = None) -> dict[UUID, OpenRequest]:
    """The open requests of installations, by id. One query."""
    ids = [each.pk for each in installations]
    rows = _ASKED.rows(ids=ids, rested=(at or timezone.now()) - RECONSENT_REST)
    return {pk: OpenRequest(is_now, for_reach) for pk, is_now, for_reach in rows}


def _asked() -> Any:
    requests = ReachRequest.objects.filter(version=OuterRef("agreed_version"), in_release=OuterRef("reached"))
    requests = requests.exclude(version=OuterRef("runs"))  # it follows a newer version in a moment
    rested = Q(reconsent_declined_at=None) | Q(reconsent_declined_at__lte=Param("rested", DateTimeField()))
    newer = ~Q(declined_version=F("runs"))
    rows = Installation.objects.usable().filter(AmongIds("id", "ids")).alias(reached=is_in_release())
    asked = rows.annotate(asks_reach=Exists(requests)).filter(Q(needs_reconsent=True) | Q(asks_reach=True))
    is_now = Case(When(rested | Q(asks_reach=True) & newer, then=True), default=False)
    return asked.values_list("pk", is_now, "asks_reach")


_ASKED: Final[Compiled[Any]] = Compiled(_asked, prepared_as="extensions_asked")


# --- Switches ----------------------------------------------------------------------------------------

ALL: Final = 100  # per cent


@dataclass(frozen=True, slots=True)
class Switch:
    """A capability that is on or off in one store."""

    capability: Capability
    is_on: bool

    @property
    def key(self) -> str:
        return str(self.capability.definitions[0])


@dataclass(frozen=True, slots=True)
class Controls:
    """`most_discount` is in per cent of the subtotal; None if the app gives no discounts."""

    switches: list[Switch]
    most_discount: int | None


@dataclass(frozen=True, slots=True)
class Choices:
    """What a merchant chose: the ids of the definitions that are switched off, the most that may be taken off an order, and whether a block
    is on a page.
    """

    off: Set[UUID]
    most_discount: int
    has_placements: bool


def choices_of(installation: Installation) -> Choices:
    """In one statement."""
    chosen = _CHOSEN.rows(installation=installation.pk)
    off = {definition for definition, _ in chosen if definition}
    others = {number for definition, number in chosen if definition is None}
    return Choices(off, max(others - {_PLACED}, default=ALL), _PLACED in others)


_PLACED: Final = -1  # no per cent


def _chosen() -> Any:
    installation = Param("installation", UUIDField())
    states = ExtensionState.objects.filter(installation=installation, is_on=False)
    limit = HookPreference.objects.filter(installation=installation)
    off = states.values_list("definition_id", Value(None, output_field=IntegerField()))
    nothing = Cast(Value(None), UUIDField())  # PostgreSQL takes a bare NULL behind DISTINCT for text
    blocks = Placement.objects.filter(installation=installation).order_by().distinct()
    return off.union(
        limit.values_list(nothing, "most_discount"),
        blocks.values_list(nothing, Value(_PLACED, output_field=IntegerField())),
        all=True,
    )


_CHOSEN: Final[Compiled[Any]] = Compiled(_chosen, prepared_as="extensions_chosen")


def controls_of(choices: Choices, running: Iterable[Definition]) -> Controls:
    """Of what the store runs, so of nothing that waits for the merchant's approval."""
    switchable = [each for each in running if each.type in SWITCHABLE]
    switches = [
        Switch(each, choices.off.isdisjoint(each.definitions)) for each in capabilities_of(switchable)
    ]
    discounts = any(each.key == HookPoint.DISCOUNTS for each in switchable)
    return Controls(switches, choices.most_discount if discounts else None)
