import uuid

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0024_clock_of_connected_stores"), ("stores", "0047_framed_pages")]

    operations = [
        migrations.CreateModel(
            name='Quote',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('answers', models.JSONField()),
                ('spent', models.JSONField(default=list)),
                ('asked_at', models.DateTimeField(default=django.utils.timezone.now, help_text='Its newest call.')),
                ('differs', models.JSONField(null=True)),
                ('business', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.business')),
                ('order', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='quotes', to='stores.order')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('order', None)), fields=['asked_at'], name='quote_without_order'), models.Index(condition=models.Q(('differs__isnull', False)), fields=['business', 'asked_at'], name='quote_that_differs')],
            },
        ),
    ]
