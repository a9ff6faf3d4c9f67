"""Each approved version in use gets the pins and corners that its stores run: they belong to the reach from now on, so
what runs counts as agreed (contract, section 2, "Reach").
"""

from typing import Any

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

BATCH = 500


def agree(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Can run twice. A document is written only if it differs."""
    live = apps.get_model("extensions", "LiveDefinition").objects.filter(definition__type="embed")
    approved = apps.get_model("extensions", "ApprovedManifest").objects
    rows = live.order_by("version_id").values_list("version_id", "definition__key", "content")
    embeds: dict[Any, dict[str, Any]] = {}
    for version_id, key, content in rows.iterator(chunk_size=BATCH):
        embeds.setdefault(version_id, {})[key] = content
    for version_id, running in embeds.items():
        kept = approved.filter(version_id=version_id).first()
        if kept is not None and _follow(kept.document, running):
            kept.save(update_fields=["document"])


def _follow(document: dict[str, Any], running: dict[str, Any]) -> bool:
    """Whether a manifest has changed."""
    changed = False
    for embed in document.get("embeds", []):
        content = running.get(embed["embedType"])
        if content is None or content["kind"] != embed["kind"]:
            continue
        name = "integrity" if embed["kind"] == "GLOBAL_SCRIPT" else "position"
        if embed.get(name) != content.get(name):
            changed = True
            embed.pop(name, None)
            if name in content:
                embed[name] = content[name]
    return changed


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("extensions", "0009_listeners")]

    operations = [migrations.RunPython(agree, migrations.RunPython.noop)]
