"""Reading what apps add to a store."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from accounts.models import Business
from extensions.enums import ExtensionType
from extensions.models import Definition, Manifest
from extensions.schemas import resolved
from installations.models import Installation
from marketplace.models import App


def manifest_document(app: App) -> dict[str, Any]:
    """The manifest as it was saved, `{}` before the first save (contract section 9, "Manifest")."""
    document = Manifest.objects.filter(app=app).values_list("document", flat=True).first()
    return document or {}


def manifest_documents(apps: Iterable[App]) -> dict[UUID, dict[str, Any]]:
    """The manifests of several apps by app id; those never saved are left out."""
    return dict(Manifest.objects.filter(app__in=apps).values_list("app_id", "document"))


def settings_of(installation: Installation) -> dict[str, Any]:
    """An app's global settings on a business: the defaults of its `settingsSchema`, overlaid by the
    merchant's values (contract section 6, "Settings")."""
    return overlaid(defaults_of(resolved(settings_schema_of(installation.app))), installation.settings)


def settings_schema_of(app: App) -> dict[str, Any] | None:
    """The schema of an app's global settings; None for an app that has none."""
    schema = manifest_document(app).get("settingsSchema")
    return schema if isinstance(schema, dict) and schema else None


def defaults_of(schema: Any) -> dict[str, Any]:
    """What an object's JSON Schema gives where nothing is set: its own `default`, else its properties'.

    The schema is a `resolved` one: references are not followed here.
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
    """`values` over `base`; objects in both are joined in the same way."""
    joined = base | values
    for name in base.keys() & values.keys():
        if isinstance(base[name], dict) and isinstance(values[name], dict):
            joined[name] = overlaid(base[name], values[name])
    return joined


@dataclass(frozen=True, slots=True)
class Extension:
    """A definition where it is in force: on the business of this installation."""

    installation: Installation
    definition: Definition


def working_installations(business: Business) -> list[Installation]:
    """Those whose extensions are on: active, of an app that is neither suspended nor deleted. The first made first."""
    rows = Installation.objects.active().with_app().defer("webhook_secret")
    return list(rows.filter(business=business, app__suspended_at=None, app__deleted_at=None).order_by("id"))


def is_working(installation: Installation) -> bool:
    return any(each.pk == installation.pk for each in working_installations(installation.business))


def extensions_on(business: Business, kind: ExtensionType, *, key: str | None = None) -> list[Extension]:
    """The active definitions of a kind on a business, by installation and then by their place in the manifest.

    Two statements, however many apps there are.
    """
    installations = working_installations(business)
    if not installations:
        return []
    rows = Definition.objects.filter(
        app__in=[each.app_id for each in installations], type=kind, is_active=True
    )
    of_app: dict[UUID, list[Definition]] = defaultdict(list)
    for definition in (rows if key is None else rows.filter(key=key)).order_by("position", "id"):
        of_app[definition.app_id].append(definition)
    return [Extension(each, definition) for each in installations for definition in of_app[each.app_id]]
