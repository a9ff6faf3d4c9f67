"""The normal forms of accounts' e-mail addresses (`common.contacts`). Filled by migration 0019."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0016_index_of_sandboxes")]

    operations = [
        migrations.AddField(
            "user",
            "email_key",
            models.CharField(
                editable=False,
                help_text="The normal form; null where another account of before has it.",
                max_length=254,
                null=True,
            ),
        ),
    ]
