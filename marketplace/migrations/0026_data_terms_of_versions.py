from django.db import migrations, models

from common.db.operations import AddFields


class Migration(migrations.Migration):
    dependencies = [('marketplace', '0025_data_terms')]

    operations = [
        AddFields(
            'appversion',
            [
                ('data_countries', models.JSONField(blank=True, db_default=[], default=list, help_text='Codes of ISO 3166-1.', verbose_name='countries of the data')),
                ('data_processors', models.CharField(blank=True, db_default='', default='', max_length=500, verbose_name='other processors of the data')),
                ('data_retention_days', models.PositiveSmallIntegerField(blank=True, help_text='In days; empty: as long as the app is installed.', null=True, verbose_name='time that data is kept')),
            ],
        ),
    ]
