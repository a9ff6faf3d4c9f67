from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("activity", "0002_deprecated_use")]

    operations = [
        migrations.AddField(
            model_name="apicall",
            name="error_code",
            field=models.CharField(blank=True, db_default="", help_text="Of an error; empty in older rows.", max_length=60),
        ),
    ]
