from django.db import migrations, models

from common.db.operations import AddFields


class Migration(migrations.Migration):
    dependencies = [('marketplace', '0002_restored_versions')]

    operations = [
        AddFields(
            'submission',
            [
                ('checks_due_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('checks_tries', models.PositiveSmallIntegerField(db_default=0, default=0, editable=False)),
                ('risk', models.PositiveSmallIntegerField(db_default=0, default=0, editable=False)),
                ('risk_reasons', models.JSONField(blank=True, db_default=[], default=list, editable=False)),
            ],
        ),
    ]
