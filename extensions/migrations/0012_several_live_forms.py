"""A definition runs in two forms while a release is open. Each step has a migration, since its lock lasts as long."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ("extensions", "0011_relayed_for"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='livedefinition',
            name='one_live_form_of_a_definition',
        ),
    ]
