from django.db import migrations, models


class Migration(migrations.Migration):
    """PostgreSQL changes the catalog alone."""

    dependencies = [("stores", "0054_attributes_of_quotes")]

    operations = [
        migrations.AddField(
            model_name="mirroredrow",
            name="attributes_digest",
            field=models.BinaryField(max_length=32, null=True),
        ),
    ]
