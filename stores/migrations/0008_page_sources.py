from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [('stores', '0007_history_of_orders')]

    operations = [
        migrations.AddField(
            model_name='sitepage',
            name='source',
            field=models.TextField(blank=True, db_default='', default='', editable=False, help_text='The Markdown that `content` was made from.'),
        ),
    ]
