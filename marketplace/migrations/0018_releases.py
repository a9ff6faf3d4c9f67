"""How an approved version reaches stores."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("marketplace", "0017_release_kinds"),
    ]

    operations = [
        migrations.CreateModel(
            name="Release",
            fields=[
                (
                    "version",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="release",
                        serialize=False,
                        to="marketplace.appversion",
                    ),
                ),
                (
                    "mode",
                    models.CharField(
                        choices=[("ALL", "All stores at once"), ("STEPS", "In steps")],
                        default="ALL",
                        max_length=5,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("ROLLING", "Rolling out"),
                            ("HALTED", "Halted"),
                            ("COMPLETE", "Complete"),
                            ("TAKEN_BACK", "Taken back"),
                        ],
                        default="COMPLETE",
                        max_length=10,
                    ),
                ),
                ("percent", models.PositiveSmallIntegerField(default=100)),
                ("bound", models.BigIntegerField(null=True)),
                ("started_at", models.DateTimeField()),
                ("step_at", models.DateTimeField(help_text="When the current step began.")),
                (
                    "watched_from",
                    models.DateTimeField(help_text="Calls from then on decide whether it halts."),
                ),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "reason",
                    models.CharField(
                        blank=True, help_text="Why it was halted or taken back.", max_length=500
                    ),
                ),
                ("final_health", models.JSONField(help_text="As it was when the release ended.", null=True)),
                (
                    "earlier",
                    models.ForeignKey(
                        db_index=False,
                        help_text="The version that ran before; empty for a first approval.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="marketplace.appversion",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "ROLLING")), fields=["step_at"], name="release_rolling"
                    )
                ],
            },
        ),
    ]
