from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('marketplace', '0026_data_terms_of_versions'),
    ]

    operations = [
        migrations.AddField(
            model_name='app',
            name='webhook_filter',
            field=models.TextField(blank=True, editable=False, help_text='JSON: the filter of the app-defined webhook.', null=True),
        ),
    ]
