"""Installations on the sandbox stores of the developers of their apps say so themselves."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import F

BATCH = 500


def fill(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Can run twice. Ended ones too: their erasures can be sent early."""
    installations = apps.get_model("installations", "Installation").objects
    own = installations.filter(business__is_sandbox=True, business__owner=F("app__developer"))
    unmarked = own.filter(is_own=False, is_review=False)
    while batch := list(unmarked.values_list("pk", flat=True)[:BATCH]):
        installations.filter(pk__in=batch).update(is_own=True)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("installations", "0011_installation_is_own")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
