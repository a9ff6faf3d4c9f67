import django.db.models.deletion
from django.db import migrations, models

from common.db.operations import AllowNull


class Migration(migrations.Migration):
    dependencies = [('extensions', '0024_remove_shadow_calls')]

    operations = [
        AllowNull(
            model_name='reachrequest',
            name='definition',
            field=models.ForeignKey(blank=True, db_index=False, help_text='Empty: where the data of stores goes.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='extensions.definition'),
        ),
    ]
