"""Stores of two versions are asked for different things."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ("extensions", "0014_one_live_form_in_a_store"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='reachrequest',
            name='one_request_for_a_definition',
        ),
    ]
