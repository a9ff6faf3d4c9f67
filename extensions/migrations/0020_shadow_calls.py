"""Calls of hooks in the shadow."""

import common.ids
import django.db.models.deletion
from django.db import migrations, models

from common.db.partitions import PartitionByTime


class Migration(migrations.Migration):

    dependencies = [
        ('extensions', '0019_pins_that_were_told'),
        ('installations', '0017_permissions_followed'),
        ('marketplace', '0020_shadow_of_submissions'),
    ]

    operations = [
        migrations.CreateModel(
            name='ShadowCall',
            fields=[
                ('id', models.UUIDField(default=common.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('hook_point', models.CharField(choices=[('checkout.payment_methods', 'checkout.payment_methods'), ('checkout.create_payment', 'checkout.create_payment'), ('checkout.shipping_rates', 'checkout.shipping_rates'), ('order.validate', 'order.validate'), ('order.calculate_discounts', 'order.calculate_discounts')], max_length=40)),
                ('called_at', models.DateTimeField()),
                ('duration_ms', models.PositiveIntegerField()),
                ('outcome', models.CharField(choices=[('ANSWERED', 'Answered'), ('TIMEOUT', 'No answer in time'), ('UNREACHABLE', 'Not reached'), ('HTTP_ERROR', 'Answered with an error'), ('NOT_JSON', 'Answer was not JSON'), ('UNEXPECTED', 'Answer had the wrong format'), ('BREAKER_OPEN', 'Skipped after failures in a row'), ('NO_TIME_LEFT', 'Skipped, no time was left')], max_length=12)),
                ('http_status', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('problem', models.CharField(blank=True, help_text='The problem, in words.', max_length=300)),
                ('request_id', models.UUIDField(editable=False, help_text='Of the request that asked.', null=True)),
                ('installation', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='installations.installation')),
                ('version', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='marketplace.appversion')),
            ],
            options={
                'indexes': [models.Index(models.F('version'), models.OrderBy(models.F('id'), descending=True), name='shadow_call_of_version'), models.Index(models.F('installation'), name='shadow_call_of_installation')],
            },
        ),
        PartitionByTime("ShadowCall"),
    ]
