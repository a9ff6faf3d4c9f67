"""Prometheus alone adds up what counts for the objectives. The table stays for processes of the release before, which write to it."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ("common", "0001_objective_counts"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.DeleteModel("ObjectiveCount")],
        ),
    ]
