from django.db import migrations, models

from common.db.operations import AddFields


class Migration(migrations.Migration):
    dependencies = [('stores', '0008_page_sources')]

    operations = [
        AddFields(
            'product',
            [
                ('rating', models.FloatField(db_default=0, default=0, editable=False, help_text='The average of its reviews; 0 without any.')),
                ('review_count', models.PositiveIntegerField(db_default=0, default=0, editable=False)),
            ],
        ),
    ]
