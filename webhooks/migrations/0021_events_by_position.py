from django.db import migrations, models

from common.db.operations import AddIndexConcurrently


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0020_index_of_notified")]
    atomic = False

    operations = [
        AddIndexConcurrently(
            model_name="event", index=models.Index(models.F("position"), name="event_position")
        ),
    ]
