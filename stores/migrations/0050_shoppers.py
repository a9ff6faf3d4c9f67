import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0027_people_of_shops"), ("stores", "0049_shop_payments")]

    operations = [
        migrations.CreateModel(
            name="Shopper",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(max_length=64)),
                ("seed", models.BinaryField(max_length=16)),
                (
                    "ordered_at",
                    models.DateTimeField(
                        db_index=True,
                        default=django.utils.timezone.now,
                        help_text="The newest order; before the first one, when it was made.",
                    ),
                ),
                (
                    "business",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.business",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("business", "digest"), name="shopper_of_store")]
            },
        ),
    ]
