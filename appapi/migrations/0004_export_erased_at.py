from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("appapi", "0003_error_code")]

    operations = [
        migrations.AddField(
            "export",
            "erased_at",
            models.DateTimeField(
                help_text="When its file was deleted, because a customer in it was erased.", null=True
            ),
        ),
    ]
