"""A definition runs in two forms while a release is open."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('extensions', '0011_relayed_for'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='livedefinition',
            name='one_live_form_of_a_definition',
        ),
        migrations.AddField(
            model_name='livedefinition',
            name='in_release',
            field=models.BooleanField(db_default=False, default=False, help_text='In the stores that an open release has reached; else in all others, which is all while none is open.'),
        ),
        migrations.AddConstraint(
            model_name='livedefinition',
            constraint=models.UniqueConstraint(fields=('definition', 'version', 'in_release'), name='one_live_form_in_a_store'),
        ),
    ]
