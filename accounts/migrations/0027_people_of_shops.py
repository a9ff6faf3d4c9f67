import common.ids
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0026_owners_among_staff")]

    operations = [
        migrations.CreateModel(
            name="ShopPerson",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="shop_person",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("external_id", models.CharField(max_length=255)),
                ("email", models.CharField(blank=True, max_length=254)),
                (
                    "store",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="people",
                        to="accounts.connectedstore",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ShopTicket",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=common.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("next", models.TextField()),
                ("expires_at", models.DateTimeField(db_index=True)),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tickets",
                        to="accounts.shopperson",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            "shopperson",
            models.UniqueConstraint(fields=("store", "external_id"), name="person_of_connected_store"),
        ),
    ]
