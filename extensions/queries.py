"""Reading manifests, settings and the extensions on a business."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import CharField, QuerySet, UUIDField
from django.utils import timezone

from accounts.models import Business
from common.db.compiled import AmongIds, Compiled, Param
from common.ids import parse_id
from extensions.enums import ExtensionType
from extensions.manifest.content import Defined, definitions_in
from extensions.manifest.reach import added_reach
from extensions.models import ApprovedManifest, Definition, LiveDefinition, Manifest
from extensions.schemas import resolved
from installations.models import Installation, InstallationQuerySet
from marketplace.models import App, AppVersion


def manifest_document(app: App) -> dict[str, Any]:
    """The manifest as it was saved, `{}` before the first save (contract, section 9, "Manifest")."""
    document = Manifest.objects.filter(app=app).values_list("document", flat=True).first()
    return document or {}


def approved_manifest(version: AppVersion | None) -> dict[str, Any]:
    """The manifest that was approved with a version; `{}` for none."""
    if version is None:
        return {}
    return ApprovedManifest.objects.filter(version=version).values_list("document", flat=True).first() or {}


def waiting_in(app: App, document: Mapping[str, Any]) -> list[Defined]:
    """The definitions of a valid manifest that go live with the app's next approved version. None before the first."""
    if app.newest_version is None:
        return []
    approved = approved_manifest(app.newest_version)
    waiting = added_reach(approved, document)
    if app.live_saves and app.taken_back_at is None:
        return waiting
    kept = {(each.type, each.key): each.content for each in definitions_in(approved)}
    saved_at = {(row.type, row.key): row.updated_at for row in Definition.objects.filter(app=app)}
    later = timezone.now()  # of one that isn't saved yet
    return [
        each
        for each in definitions_in(document)
        if each in waiting
        or (
            each.content != kept.get((each.type, each.key))
            and not saves_run(app, saved_at.get((each.type, each.key), later))
        )
    ]


def kept_in_stores(app: App, document: Mapping[str, Any]) -> list[Defined]:
    """The approved definitions that a valid manifest no longer has and stores still run, since saves wait for the next version."""
    if app.newest_version is None or app.live_saves:
        return []
    saved = {(each.type, each.key) for each in definitions_in(document)}
    approved = definitions_in(approved_manifest(app.newest_version))
    return [each for each in approved if (each.type, each.key) not in saved]


def waits_for_version(app: App, document: Mapping[str, Any]) -> bool:
    """Whether stores run a saved manifest only in part until the next approved version: a part of it waits, or all that changed."""
    if waiting_in(app, document):
        return True
    if app.newest_version is None or app.live_saves:
        return False
    return document != approved_manifest(app.newest_version)


def saves_run(app: App, saved_at: datetime) -> bool:
    """Whether what was saved then may run in production before it is approved: saves are live, and no version was taken back since."""
    return app.live_saves and (app.taken_back_at is None or saved_at > app.taken_back_at)


def documents_in(installations: Iterable[Installation]) -> dict[UUID, dict[str, Any]]:
    """The manifest that each installation runs, by its id: the saved one, or where saves wait that of its version. At most two
    statements. Of single definitions, `LiveDefinition` knows more.
    """
    found = list(installations)
    saves = _SAVES.rows(ids={each.app_id for each in found})
    saved = {app: (document, at) for app, document, at in saves}
    documents = {each.pk: saved[each.app_id][0] if each.app_id in saved else {} for each in found}
    waiting = {
        each.pk: each.runs_id
        for each in found
        if each.app_id in saved
        and not each.runs_working_copy
        and each.runs_id is not None
        and not saves_run(each.app, saved[each.app_id][1])
    }
    if waiting:
        kept = ApprovedManifest.objects.filter(version__in=set(waiting.values()))
        approved = dict(kept.values_list("version_id", "document"))
        documents |= {pk: approved.get(version, {}) for pk, version in waiting.items()}
    return documents


_SAVES: Final[Compiled[Any]] = Compiled(
    lambda: Manifest.objects.filter(AmongIds("app", "ids")).values_list("app_id", "document", "saved_at"),
    prepared_as="extensions_saves",
)


def manifest_documents(apps: Iterable[App]) -> dict[UUID, dict[str, Any]]:
    """The manifests of several apps by app id, without those never saved."""
    return dict(Manifest.objects.filter(app__in=apps).values_list("app_id", "document"))


def settings_of(installation: Installation) -> dict[str, Any]:
    """An app's global settings on a business: the defaults of its `settingsSchema` with the merchant's values on top
    (contract, section 6, "Settings").
    """
    return overlaid(defaults_of(resolved(settings_schema_of(installation))), installation.settings)


def settings_schema_of(installation: Installation) -> dict[str, Any] | None:
    """The schema of an app's global settings in a store; None for an app that has none."""
    return settings_schema_in(documents_in([installation])[installation.pk])


def settings_schema_in(document: Mapping[str, Any]) -> dict[str, Any] | None:
    schema = document.get("settingsSchema")
    return schema if isinstance(schema, dict) and schema else None


def defaults_of(schema: Any) -> dict[str, Any]:
    """The defaults of an object's JSON Schema: its own `default`, else its properties'.

    The schema must be `resolved`: references are not followed here.
    """
    if not isinstance(schema, dict):
        return {}
    found = {}
    for name, part in schema.get("properties", {}).items():
        if isinstance(part, dict) and "default" in part:
            found[name] = part["default"]
        elif inner := defaults_of(part):
            found[name] = inner
    own = schema.get("default")
    return overlaid(found, own) if isinstance(own, dict) else found


def overlaid(base: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """`values` on top of `base`; objects in both are merged in the same way."""
    joined = base | values
    for name in base.keys() & values.keys():
        if isinstance(base[name], dict) and isinstance(values[name], dict):
            joined[name] = overlaid(base[name], values[name])
    return joined


@dataclass(frozen=True, slots=True)
class Extension:
    """A definition on the business of this installation. Its `content` is the one that runs there."""

    installation: Installation
    definition: Definition


_BUSINESS: Final = Param("business", UUIDField())


# Every page of a store asks these. Built each time, they would cost more than their rows.
def _running() -> InstallationQuerySet:
    rows = Installation.objects.running().filter(business=_BUSINESS)
    return rows.with_app().defer("webhook_secret").order_by("id")


_RUNNING: Final = Compiled(_running, prepared_as="extensions_running")


def running_installations(business: Business) -> list[Installation]:
    """Installations whose extensions are on, oldest first."""
    return _RUNNING.rows(business=business.pk)


def extensions_on(business: Business, kind: ExtensionType) -> list[Extension]:
    """The definitions of a type that run on a business, by installation and then by position in the manifest.

    Two statements for any number of apps, one more on a sandbox store.
    """
    return extensions_of(running_installations(business), kind)


def extensions_of(
    installations: Collection[Installation], kind: ExtensionType | None = None
) -> list[Extension]:
    """The same for installations of one business, which are known."""
    of_app = running_definitions(installations, kind)
    return [Extension(each, definition) for each in installations for definition in of_app[each.app_id]]


def running_definitions(
    installations: Iterable[Installation], kind: ExtensionType | None = None, *, key: str | None = None
) -> dict[UUID, list[Definition]]:
    """The definitions of a type, or of all, that run for installations of one business, by app.

    On its own developer's sandbox store that is the working copy. Elsewhere each definition has the content of its
    `LiveDefinition`.
    """
    wanted = {name: value for name, value in (("type", kind), ("key", key)) if value is not None}
    own = [each.app_id for each in installations if each.runs_working_copy]
    agreed = {
        (each.agreed_version_id, each.is_in_release) for each in installations if not each.runs_working_copy
    }
    found: dict[UUID, list[Definition]] = defaultdict(list)
    for definition in Definition.objects.filter(app__in=own, is_active=True, **wanted) if own else ():
        found[definition.app_id].append(definition)
    for definition in _live(agreed, kind, key) if agreed else ():
        found[definition.app_id].append(definition)
    for definitions in found.values():
        definitions.sort(key=lambda each: (each.position, each.pk))
    return found


def runs_in(installation: Installation, definition: Definition) -> bool:
    """Whether an active installation's store runs a definition, its app being neither suspended nor deleted."""
    running = running_definitions([installation], ExtensionType(definition.type), key=definition.key)
    return any(each.pk == definition.pk for each in running[installation.app_id])


def _of_versions() -> QuerySet[LiveDefinition]:
    return LiveDefinition.objects.filter(AmongIds("version", "versions")).select_related("definition")


_LIVE: Final = Compiled(_of_versions, prepared_as="extensions_live")
_LIVE_OF_TYPE: Final = Compiled(
    lambda: _of_versions().filter(definition__type=Param("type", CharField())),
    prepared_as="extensions_live_of_type",
)


def _live(
    agreed: Collection[tuple[UUID | None, bool]], kind: ExtensionType | None, key: str | None
) -> Iterator[Definition]:
    versions = [version for version, _ in agreed if version]
    rows = _LIVE_OF_TYPE.rows(versions=versions, type=kind) if kind else _LIVE.rows(versions=versions)
    for row in rows:
        if (row.version_id, row.in_release) in agreed and key in (None, row.definition.key):
            row.definition.content = row.content
            yield row.definition


# --- What apps have put into an order ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ShownAttributes:
    """Those of one app, by the name that its merchants know. `values` are keys and texts, sorted."""

    slug: str
    name: str
    values: Sequence[tuple[str, str]]


def shown_attributes(of_apps: Iterable[tuple[str, Mapping[str, str]]]) -> list[ShownAttributes]:
    """By the apps' names. One statement, or none."""
    by_owner = {parse_id(owner): own for owner, own in of_apps if own}
    if not by_owner:
        return []
    apps = App.objects.select_related("approved_version").filter(pk__in=[each for each in by_owner if each])
    shown = [
        ShownAttributes(app.slug, (app.approved_version or app).name, sorted(by_owner[app.pk].items()))
        for app in apps
    ]
    return sorted(shown, key=lambda each: each.name.casefold())
