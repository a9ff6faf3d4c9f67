import common.ids
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0014_test_stores"),
        ("stores", "0020_index_of_customers"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="CustomerErasure",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=common.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("order_ids", models.JSONField(default=list)),
                ("review_ids", models.JSONField(default=list)),
                ("swept_at", models.DateTimeField(null=True)),
                (
                    "business",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.business",
                    ),
                ),
                (
                    "by",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        models.F("business"),
                        models.OrderBy(models.F("id"), descending=True),
                        name="customer_erasure_newest",
                    ),
                    models.Index(
                        models.F("at"),
                        condition=models.Q(("swept_at", None)),
                        name="customer_erasure_to_sweep",
                    ),
                ],
            },
        ),
    ]
