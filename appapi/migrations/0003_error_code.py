from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("appapi", "0002_exports")]

    operations = [
        migrations.AddField(
            model_name="idempotencykey",
            name="error_code",
            field=models.CharField(blank=True, db_default="", help_text="Of an error.", max_length=60),
        ),
    ]
