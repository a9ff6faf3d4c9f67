"""Events, deliveries and attempts, split by time (docs/decisions/0036).

Attempts get a new key, which no column can be altered to, so their table is created again. Deliveries keep their ids,
by which apps have seen them.
"""

import django.db.models.deletion
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

import webhooks.fields
from common.db.partitions import PartitionByTime, free_names

_COLUMNS = "delivery_id, number, attempted_at, http_status, duration_ms, error_class, response_excerpt"


def set_attempts_aside(apps: object, editor: BaseDatabaseSchemaEditor) -> None:
    editor.execute("ALTER TABLE webhooks_attempt RENAME TO webhooks_attempt_old")
    if editor.connection.vendor == "postgresql":
        free_names(editor, "webhooks_attempt_old")


def bring_attempts_back(apps: object, editor: BaseDatabaseSchemaEditor) -> None:
    editor.execute(
        f"INSERT INTO webhooks_attempt ({_COLUMNS}) SELECT {_COLUMNS} FROM webhooks_attempt_old"  # noqa: S608
    )
    editor.execute("DROP TABLE webhooks_attempt_old")


def copy_from_others(apps: object, editor: BaseDatabaseSchemaEditor) -> None:
    for column in ("app_id", "business_id"):
        editor.execute(
            f"""
            UPDATE webhooks_delivery SET {column} = (
                SELECT installation.{column}
                FROM webhooks_webhook AS webhook
                JOIN installations_installation AS installation ON installation.id = webhook.installation_id
                WHERE webhook.id = webhooks_delivery.webhook_id
            )
            """  # noqa: S608
        )
    editor.execute(
        "UPDATE webhooks_delivery SET event_type ="
        " (SELECT type FROM webhooks_event WHERE webhooks_event.id = webhooks_delivery.event_id)"
    )
    if editor.connection.vendor == "postgresql":  # the table can't be altered before these are checked
        editor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        editor.execute("SET CONSTRAINTS ALL DEFERRED")


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0008_inboxes")]

    operations = [
        migrations.RemoveConstraint("attempt", "attempt_number"),
        migrations.RemoveIndex("attempt", "attempt_time"),
        migrations.RemoveIndex("attempt", "attempt_gone"),
        migrations.AlterField(
            "attempt",
            "delivery",
            models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="attempts",
                to="webhooks.delivery",
            ),
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(set_attempts_aside)],
            state_operations=[migrations.DeleteModel("Attempt")],
        ),
        migrations.RemoveConstraint("delivery", "one_delivery_per_event_and_webhook"),
        migrations.AddField("delivery", "app_id", webhooks.fields.InstallationsField(editable=False, null=True)),
        migrations.AddField(
            "delivery", "business_id", webhooks.fields.InstallationsField(editable=False, null=True)
        ),
        migrations.AddField(
            "delivery", "event_type", webhooks.fields.EventTypeField(editable=False, max_length=40, null=True)
        ),
        migrations.RunPython(copy_from_others),
        migrations.AlterField(
            "delivery", "event_type", webhooks.fields.EventTypeField(editable=False, max_length=40)
        ),
        migrations.AlterField("delivery", "app_id", webhooks.fields.InstallationsField(editable=False)),
        migrations.AlterField("delivery", "business_id", webhooks.fields.InstallationsField(editable=False)),
        migrations.AlterField(
            "delivery",
            "id",
            webhooks.fields.DeliveryIdField(editable=False, primary_key=True, serialize=False),
        ),
        migrations.AlterField(
            "delivery",
            "event",
            models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="deliveries",
                to="webhooks.event",
            ),
        ),
        migrations.AlterField(
            "erasure",
            "event",
            models.OneToOneField(
                db_constraint=False,
                help_text="Empty after 30 days, when events are deleted.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="webhooks.event",
            ),
        ),
        migrations.AddIndex("delivery", models.Index(models.F("event"), name="delivery_of_event")),
        migrations.AddIndex(
            "delivery", models.Index(models.F("app_id"), models.F("id").desc(), name="delivery_of_app")
        ),
        migrations.CreateModel(
            "Attempt",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "delivery_id", "number", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("attempted_at", models.DateTimeField()),
                ("http_status", models.PositiveSmallIntegerField(null=True)),
                ("duration_ms", models.PositiveIntegerField()),
                ("error_class", models.CharField(blank=True, max_length=20)),
                ("response_excerpt", models.TextField(blank=True)),
                (
                    "delivery",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="attempts",
                        to="webhooks.delivery",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(models.F("attempted_at"), name="attempt_time"),
                    models.Index(
                        models.F("attempted_at"), name="attempt_gone", condition=models.Q(("http_status", 410))
                    ),
                ],
            },
        ),
        PartitionByTime("Event"),
        PartitionByTime("Delivery"),
        PartitionByTime("Attempt", by="delivery_id"),
        migrations.RunPython(bring_attempts_back),
    ]
