from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [('stores', '0003_carts')]

    operations = [
        migrations.AddField(
            model_name='order',
            name='payment_method_name',
            field=models.CharField(blank=True, db_default='', default='', help_text='As the app that offers it names it.', max_length=200),
        ),
    ]
