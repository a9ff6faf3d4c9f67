"""Hooks aren't asked in the shadow any more. The column stays for processes of the release before."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ("marketplace", "0021_developer_left_at"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.RemoveField("submission", "shadow")],
        ),
    ]
