import common.ids
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('marketplace', '0003_review_desk'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='CheckRun',
            fields=[
                ('id', models.UUIDField(default=common.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('at', models.DateTimeField()),
                ('results', models.JSONField()),
                ('by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('submission', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='check_runs', to='marketplace.submission')),
            ],
        ),
        migrations.CreateModel(
            name='ReviewMessage',
            fields=[
                ('id', models.UUIDField(default=common.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('from_reviewer', models.BooleanField()),
                ('at', models.DateTimeField()),
                ('text', models.TextField(max_length=4000)),
                ('author', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('submission', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='marketplace.submission')),
            ],
        ),
    ]
