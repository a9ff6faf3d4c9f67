"""In which stores a form of a definition runs."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("extensions", "0012_several_live_forms"),
    ]

    operations = [
        migrations.AddField(
            model_name='livedefinition',
            name='in_release',
            field=models.BooleanField(db_default=False, default=False, help_text='In the stores that an open release has reached; else in all others, which is all while none is open.'),
        ),
    ]
