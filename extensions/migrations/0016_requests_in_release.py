"""Which stores are asked."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("extensions", "0015_several_requests"),
    ]

    operations = [
        migrations.AddField(
            model_name='reachrequest',
            name='in_release',
            field=models.BooleanField(db_default=False, default=False, help_text='As for `LiveDefinition`.'),
        ),
    ]
