"""Each current approved version gets the manifest of this moment, and stores run it (contract, section 2, "Reach")."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def release(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Can run twice."""
    definitions = apps.get_model("extensions", "Definition").objects.filter(is_active=True)
    kept = apps.get_model("extensions", "ApprovedManifest").objects
    manifests = apps.get_model("extensions", "Manifest").objects
    live = apps.get_model("extensions", "LiveDefinition")
    approved = apps.get_model("marketplace", "App").objects.filter(approved_version__isnull=False)
    for app_id, version_id in approved.values_list("pk", "approved_version_id").iterator():
        document = manifests.filter(app=app_id).values_list("document", flat=True).first() or {}
        kept.update_or_create(version_id=version_id, defaults={"document": document})
        live.objects.bulk_create(
            [
                live(definition_id=definition_id, version_id=version_id, content=content)
                for definition_id, content in definitions.filter(app=app_id).values_list("pk", "content")
            ],
            ignore_conflicts=True,
        )


class Migration(migrations.Migration):
    dependencies = [("extensions", "0002_reach")]

    operations = [migrations.RunPython(release, migrations.RunPython.noop)]
