"""One form in each store."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("extensions", "0013_live_definitions_in_release"),
    ]

    operations = [
        migrations.AddConstraint(
            model_name='livedefinition',
            constraint=models.UniqueConstraint(fields=('definition', 'version', 'in_release'), name='one_live_form_in_a_store'),
        ),
    ]
