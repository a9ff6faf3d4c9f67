from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies: list[tuple[str, str]] = []

    operations = [
        migrations.CreateModel(
            name="Stream",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.SlugField(unique=True)),
                ("position", models.BigIntegerField(default=0)),
                ("until", models.BigIntegerField(null=True)),
                (
                    "complete_at",
                    models.DateTimeField(help_text="No event that was made earlier is still to be written."),
                ),
                ("events_written", models.PositiveBigIntegerField(default=0)),
                (
                    "gaps",
                    models.PositiveIntegerField(
                        default=0,
                        help_text="How often events may have been removed before they were written.",
                    ),
                ),
            ],
        ),
    ]
