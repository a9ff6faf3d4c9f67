from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [('marketplace', '0007_listing_content_of_versions')]

    operations = [
        migrations.AddField(
            model_name='appversion',
            name='developer_name',
            field=models.CharField(blank=True, db_default='', default='', help_text='As it was submitted.', max_length=120),
        ),
    ]
