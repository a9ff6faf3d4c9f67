"""Reading manifests, settings and the extensions on a business."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from accounts.models import Business
from extensions.enums import ExtensionType
from extensions.manifest.content import Defined
from extensions.manifest.reach import added_reach
from extensions.models import ApprovedManifest, Definition, LiveDefinition, Manifest
from extensions.schemas import resolved
from installations.models import Installation
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
    if app.approved_version is None:
        return []
    return added_reach(approved_manifest(app.approved_version), document)


def manifest_documents(apps: Iterable[App]) -> dict[UUID, dict[str, Any]]:
    """The manifests of several apps by app id, without those never saved."""
    return dict(Manifest.objects.filter(app__in=apps).values_list("app_id", "document"))


def settings_of(installation: Installation) -> dict[str, Any]:
    """An app's global settings on a business: the defaults of its `settingsSchema` with the merchant's values on top
    (contract, section 6, "Settings").
    """
    return overlaid(defaults_of(resolved(settings_schema_of(installation.app))), installation.settings)


def settings_schema_of(app: App) -> dict[str, Any] | None:
    """The schema of an app's global settings; None for an app that has none."""
    return settings_schema_in(manifest_document(app))


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


def running_installations(business: Business, *, paused: bool = False) -> list[Installation]:
    """Installations whose extensions are on, oldest first; with `paused`, those of paused apps too."""
    rows = Installation.objects.usable() if paused else Installation.objects.running()
    return list(rows.filter(business=business).with_app().defer("webhook_secret").order_by("id"))


def extensions_on(
    business: Business, kind: ExtensionType, *, key: str | None = None, paused: bool = False
) -> list[Extension]:
    """The definitions of a type that run on a business, by installation and then by position in the manifest.

    With `paused`, those of paused apps too. Two statements for any number of apps, one more on a sandbox store.
    """
    installations = running_installations(business, paused=paused)
    of_app = running_definitions(installations, kind, key=key)
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
    agreed = [each.agreed_version_id for each in installations if not each.runs_working_copy]
    found: dict[UUID, list[Definition]] = defaultdict(list)
    for definition in Definition.objects.filter(app__in=own, is_active=True, **wanted) if own else ():
        found[definition.app_id].append(definition)
    for definition in _live(agreed, wanted) if agreed else ():
        found[definition.app_id].append(definition)
    for definitions in found.values():
        definitions.sort(key=lambda each: (each.position, each.pk))
    return found


def runs_in(installation: Installation, definition: Definition) -> bool:
    """Whether an active installation's store runs a definition, its app being neither suspended nor deleted."""
    running = running_definitions([installation], ExtensionType(definition.type), key=definition.key)
    return any(each.pk == definition.pk for each in running[installation.app_id])


def _live(versions: Iterable[UUID | None], wanted: dict[str, Any]) -> Iterator[Definition]:
    filters = {f"definition__{name}": value for name, value in {"is_active": True, **wanted}.items()}
    rows = LiveDefinition.objects.filter(version__in=[each for each in versions if each], **filters)
    for row in rows.select_related("definition"):
        row.definition.content = row.content
        yield row.definition
