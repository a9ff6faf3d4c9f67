from django.db import migrations

from common.db.partitions import PartitionByTime


class Migration(migrations.Migration):
    dependencies = [("extensions", "0006_requests_of_hook_calls")]

    operations = [migrations.RemoveIndex("hookcall", "hook_call_age"), PartitionByTime("HookCall")]
