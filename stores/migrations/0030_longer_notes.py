from django.db import migrations, models


class Migration(migrations.Migration):
    """PostgreSQL changes the catalog alone."""

    dependencies = [("stores", "0029_longer_categories")]

    operations = [
        migrations.AlterField(
            model_name="orderchange",
            name="note",
            field=models.CharField(blank=True, max_length=2000),
        ),
    ]
