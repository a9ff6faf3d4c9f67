"""Wrong codes of a second factor, which count for their account."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import common.ids


class Migration(migrations.Migration):
    dependencies = [("accounts", "0011_token_rights")]

    operations = [
        migrations.CreateModel(
            name="WrongCode",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=common.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("at", models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                ("is_mailed", models.BooleanField(default=False)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
    ]
