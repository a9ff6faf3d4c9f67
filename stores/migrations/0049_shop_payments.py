import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0024_clock_of_connected_stores"), ("stores", "0048_quotes")]

    operations = [
        migrations.CreateModel(
            name='ShopPayment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('order_id', models.UUIDField(unique=True)),
                ('order_external_id', models.CharField(max_length=100)),
                ('provider', models.CharField(help_text='As `Payment.provider`.', max_length=64)),
                ('method', models.CharField(help_text="<app slug>:<the app's id of it>", max_length=200)),
                ('amount', models.PositiveBigIntegerField(help_text='Minor units.')),
                ('row_amount', models.PositiveBigIntegerField(help_text='Minor units.', null=True)),
                ('currency', models.CharField(max_length=3)),
                ('is_made', models.BooleanField(default=False)),
                ('status', models.CharField(choices=[('PENDING', 'Pending'), ('COMPLETED', 'Completed'), ('FAILED', 'Failed'), ('EXPIRED', 'Expired')], default='PENDING', max_length=9)),
                ('payment_url', models.TextField(blank=True)),
                ('qr_code', models.TextField(blank=True)),
                ('invoice_id', models.CharField(blank=True, max_length=200)),
                ('reference', models.CharField(blank=True, max_length=200)),
                ('expires_at', models.DateTimeField(null=True)),
                ('opened_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('command_id', models.UUIDField(null=True)),
                ('tell_since', models.DateTimeField(null=True)),
                ('tell_at', models.DateTimeField(null=True)),
                ('told_times', models.PositiveIntegerField(default=0, help_text='Tries of the newest telling.')),
                ('tried_until', models.DateTimeField(null=True)),
                ('business', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.business')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('status', 'PENDING')), fields=['expires_at'], name='shop_payment_waiting'), models.Index(condition=models.Q(('row_amount__isnull', False)), fields=['business', 'opened_at'], name='shop_payment_that_differs'), models.Index(condition=models.Q(('tell_at__isnull', False)), fields=['tell_at'], name='shop_payment_to_tell')],
            },
        ),
    ]
