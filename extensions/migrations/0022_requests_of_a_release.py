"""Stores of two versions are asked for different things."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('extensions', '0021_live_definitions_of_a_release'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='reachrequest',
            name='one_request_for_a_definition',
        ),
        migrations.AddField(
            model_name='reachrequest',
            name='in_release',
            field=models.BooleanField(db_default=False, default=False, help_text='As for `LiveDefinition`.'),
        ),
        migrations.AddConstraint(
            model_name='reachrequest',
            constraint=models.UniqueConstraint(fields=('definition', 'version', 'in_release'), name='one_request_in_a_store'),
        ),
    ]
