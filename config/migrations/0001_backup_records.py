from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="BackupRecord",
            fields=[
                (
                    "what",
                    models.CharField(
                        choices=[("backup", "Backup"), ("drill", "Drill")],
                        max_length=10,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("at", models.DateTimeField()),
            ],
        ),
    ]
