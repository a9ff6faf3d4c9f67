import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [('stores', '0006_look')]

    operations = [
        migrations.CreateModel(
            name='OrderChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('kind', models.CharField(choices=[('PLACED', 'Order placed'), ('STATUS', 'Status changed'), ('METHOD', 'Payment method changed'), ('PAYMENT', 'Payment')], max_length=12)),
                ('previous', models.CharField(blank=True, max_length=12)),
                ('status', models.CharField(blank=True, max_length=12)),
                ('note', models.CharField(blank=True, max_length=300)),
                ('actor', models.CharField(choices=[('MERCHANT', 'Merchant'), ('APP', 'App'), ('SHOPPER', 'Shopper'), ('STAFF', 'Platform staff'), ('SYSTEM', 'System')], default='SYSTEM', max_length=8)),
                ('actor_id', models.UUIDField(blank=True, help_text="Of the person or the app; `stores` doesn't interpret an app's.", null=True)),
                ('actor_name', models.CharField(blank=True, help_text='The name at that time.', max_length=120)),
                ('order', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='stores.order')),
            ],
            options={
                'ordering': ['id'],
                'indexes': [models.Index(fields=['order', 'id'], name='change_of_order')],
            },
        ),
        migrations.CreateModel(
            name='OrderHookPart',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('point', models.CharField(help_text='A value of `hookpoints.HookPoint`.', max_length=32)),
                ('provider', models.CharField(blank=True, help_text="Identifies the app; `stores` doesn't interpret it.", max_length=64)),
                ('app_name', models.CharField(help_text='The name at that time.', max_length=80)),
                ('outcome', models.CharField(choices=[('ANSWERED', 'Answered'), ('FAILED', 'Failed'), ('SKIPPED', 'Not asked')], max_length=8)),
                ('amount', models.PositiveBigIntegerField(blank=True, help_text='Minor units: the discount that counted, or the fee.', null=True)),
                ('reason', models.CharField(blank=True, help_text="The app's reason.", max_length=300)),
                ('instead', models.CharField(blank=True, help_text='What the store did instead, or changed.', max_length=300)),
                ('at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('order', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='hook_parts', to='stores.order')),
            ],
            options={
                'ordering': ['id'],
                'indexes': [models.Index(fields=['order', 'id'], name='hook_part_of_order')],
            },
        ),
    ]
