from django.db import migrations, models

from common.db.operations import AddIndexConcurrently


class Migration(migrations.Migration):
    dependencies = [("stores", "0010_rate_products")]
    atomic = False

    operations = [
        AddIndexConcurrently(
            model_name='product',
            index=models.Index(models.F('business'), models.OrderBy(models.F('rating'), descending=True), models.OrderBy(models.F('review_count'), descending=True), models.OrderBy(models.F('id'), descending=True), condition=models.Q(('status', 'ACTIVE')), name='product_rated'),
        ),
        AddIndexConcurrently(
            model_name="storesettings",
            index=models.Index(condition=models.Q(("logo__isnull", False)), fields=["logo"], name="store_logo"),
        ),
        AddIndexConcurrently(
            model_name="storesettings",
            index=models.Index(condition=models.Q(("hero_picture__isnull", False)), fields=["hero_picture"], name="store_hero_picture"),
        ),
    ]
