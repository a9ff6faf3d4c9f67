import common.db.fields
import common.ids
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0022_connected_businesses"),
    ]

    operations = [
        migrations.CreateModel(
            name="ShopSystem",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=common.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                (
                    "commands_url",
                    models.TextField(
                        blank=True,
                        help_text="Where it is asked for what apps write. Empty: apps only read.",
                        verbose_name="commands",
                    ),
                ),
                (
                    "sign_in_url",
                    models.TextField(
                        blank=True,
                        help_text="Where people without a session are sent.",
                        verbose_name="sign-in",
                    ),
                ),
                ("secret", common.db.fields.EncryptedTextField(editable=False)),
                (
                    "is_test",
                    models.BooleanField(
                        default=False,
                        help_text="Its stores are sandboxes, whose clock can be moved.",
                        verbose_name="for tests",
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("ended_at", models.DateTimeField(editable=False, null=True)),
            ],
            options={
                "permissions": [("connect_shops", "connect shops")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at", None)), fields=("name",), name="shop_system_name"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ShopKey",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=common.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("last_four", models.CharField(max_length=4)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("expires_at", models.DateTimeField(null=True)),
                ("last_used_at", models.DateTimeField(null=True)),
                (
                    "system",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="keys",
                        to="accounts.shopsystem",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ConnectedStore",
            fields=[
                (
                    "business",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="connected",
                        serialize=False,
                        to="accounts.business",
                    ),
                ),
                ("external_id", models.CharField(max_length=100)),
                ("storefront_url", models.TextField(blank=True)),
                (
                    "storefront_origins",
                    models.JSONField(default=list, help_text="Beside that of `storefront_url`."),
                ),
                ("ending_since", models.DateTimeField(editable=False, null=True)),
                (
                    "system",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="stores",
                        to="accounts.shopsystem",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("system", "external_id"), name="store_of_shop_system")
                ],
            },
        ),
    ]
