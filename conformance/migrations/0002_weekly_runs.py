import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("conformance", "0001_runs"),
        ('marketplace', '0012_members'),
    ]

    operations = [
        migrations.AddField(
            model_name='run',
            name='version',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='marketplace.appversion'),
        ),
    ]
