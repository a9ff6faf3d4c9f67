from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [('marketplace', '0008_developer_name_of_versions')]

    operations = [
        migrations.AddField(
            model_name='submission',
            name='developer_name',
            field=models.CharField(blank=True, db_default='', default='', max_length=120),
        ),
    ]
