"""The normal form of a reviewer's e-mail address. Filled by migration 0026."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("stores", "0024_keys_of_orders")]

    operations = [
        migrations.AddField(
            "review", "author_email_key", models.CharField(editable=False, max_length=254, null=True)
        ),
    ]
