from django.db import migrations, models

from common.db.operations import AddFields


class Migration(migrations.Migration):
    dependencies = [('marketplace', '0005_submission_checks_due')]

    operations = [
        AddFields(
            'app',
            [
                ('alt_texts', models.JSONField(blank=True, db_default={}, default=dict, help_text='By screenshot id. Screenshots without a description are left out.', verbose_name='screenshot descriptions')),
                ('long_description', models.TextField(blank=True, db_default='', default='', help_text='Markdown, shown on the listing.', max_length=5000)),
                ('privacy_url', models.CharField(blank=True, db_default='', default='', max_length=2048, verbose_name='privacy policy')),
                ('support_url', models.CharField(blank=True, db_default='', default='', help_text='https://… or mailto:…', max_length=2048, verbose_name='support')),
            ],
        ),
    ]
