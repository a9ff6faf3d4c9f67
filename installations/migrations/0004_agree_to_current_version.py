"""Active installations count as agreed to the current approved version (contract, section 2, "Reach")."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import F, OuterRef, Subquery


def agree(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """One statement. The developer's own sandbox store runs the working copy, and agrees to no version."""
    installations = apps.get_model("installations", "Installation").objects
    current = apps.get_model("marketplace", "App").objects.filter(pk=OuterRef("app"))
    own = installations.filter(business__is_sandbox=True, business__owner=F("app__developer"))
    rows = installations.filter(uninstalled_at=None, agreed_version=None).exclude(pk__in=own.values("pk"))
    rows.update(agreed_version=Subquery(current.values("approved_version")[:1]))


class Migration(migrations.Migration):
    dependencies = [("installations", "0003_agreed_version")]

    operations = [migrations.RunPython(agree, migrations.RunPython.noop)]
