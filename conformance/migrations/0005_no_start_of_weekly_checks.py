"""One worker checks at a time, so no lease is kept. The column stays for processes of the release before."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ("conformance", "0004_weekly_checks"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.RemoveField("weeklycheck", "started_at")],
        ),
    ]
