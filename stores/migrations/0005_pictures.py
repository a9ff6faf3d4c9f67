import common.ids
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [('accounts', '0006_profile'), ('stores', '0004_payment_method_names')]

    operations = [
        migrations.CreateModel(
            name='StorePicture',
            fields=[
                ('id', models.UUIDField(default=common.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('file', models.FileField(max_length=200, upload_to='stores/')),
                ('thumbnail', models.FileField(help_text='The same picture, at most 480 pixels wide and high.', max_length=200, upload_to='stores/')),
                ('content_type', models.CharField(help_text='Of both files.', max_length=20)),
                ('width', models.PositiveIntegerField()),
                ('height', models.PositiveIntegerField()),
                ('alt', models.CharField(blank=True, help_text="For people who can't see the picture.", max_length=200, verbose_name='description')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('business', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='store_pictures', to='accounts.business')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='ProductPicture',
            fields=[
                ('id', models.UUIDField(default=common.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('file', models.FileField(max_length=200, upload_to='stores/')),
                ('thumbnail', models.FileField(help_text='The same picture, at most 480 pixels wide and high.', max_length=200, upload_to='stores/')),
                ('content_type', models.CharField(help_text='Of both files.', max_length=20)),
                ('width', models.PositiveIntegerField()),
                ('height', models.PositiveIntegerField()),
                ('alt', models.CharField(blank=True, help_text="For people who can't see the picture.", max_length=200, verbose_name='description')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('position', models.PositiveSmallIntegerField(help_text='0 is the first.')),
                ('product', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='pictures', to='stores.product')),
            ],
            options={
                'ordering': ['position', 'id'],
                'indexes': [models.Index(fields=['product', 'position'], name='picture_of_product')],
            },
        ),
    ]
