import django.core.validators
import django.db.models.deletion
from django.db import migrations, models

from common.db.operations import AddFields


class Migration(migrations.Migration):
    dependencies = [('stores', '0005_pictures')]

    operations = [
        migrations.AlterField(
            model_name='storesettings',
            name='delivery_fee',
            field=models.PositiveBigIntegerField(default=500, help_text='Minor units, for one delivery.'),
        ),
        migrations.AlterField(
            model_name='product',
            name='image',
            field=models.CharField(blank=True, help_text="Path under the site's address: of the first `ProductPicture`, or such as /static/images/product.svg.", max_length=200, validators=[django.core.validators.RegexValidator('^/[^/\\\\]', 'Must be a path that begins with one slash.')]),
        ),
        AddFields(
            'storesettings',
            [
                ('accent', models.CharField(choices=[('graphite', 'Graphite'), ('indigo', 'Indigo'), ('blue', 'Blue'), ('teal', 'Teal'), ('green', 'Green'), ('olive', 'Olive'), ('amber', 'Amber'), ('orange', 'Orange'), ('red', 'Red'), ('pink', 'Pink'), ('purple', 'Purple'), ('brown', 'Brown')], db_default='graphite', default='graphite', max_length=12, verbose_name='color')),
                ('hero_text', models.CharField(blank=True, db_default='', default='', help_text='At the top of the home page.', max_length=400, verbose_name='welcome text')),
                ('tagline', models.CharField(blank=True, db_default='', default='', help_text='One line about the store.', max_length=120)),
                ('hero_picture', models.ForeignKey(blank=True, null=True, db_index=False, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='stores.storepicture')),
                ('logo', models.ForeignKey(blank=True, null=True, db_index=False, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='stores.storepicture')),
                ('seen_at', models.DateTimeField(blank=True, editable=False, help_text='When the merchant first opened the store as shoppers see it.', null=True)),
            ],
        ),
    ]
