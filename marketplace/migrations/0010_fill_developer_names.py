"""Each approved version of an app that isn't deleted gets its developer's name of this moment."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import OuterRef, Subquery

BATCH = 500


def fill(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Can run twice."""
    versions = apps.get_model("marketplace", "AppVersion").objects
    names = apps.get_model("marketplace", "App").objects.filter(pk=OuterRef("app")).values("developer__name")
    unnamed = versions.filter(developer_name="", app__deleted_at=None).exclude(app__developer__name="")
    while batch := list(unnamed.values_list("pk", flat=True)[:BATCH]):
        versions.filter(pk__in=batch).update(developer_name=Subquery(names))


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("marketplace", "0009_developer_name_of_submissions")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
