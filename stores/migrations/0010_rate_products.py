"""The average and number of reviews, of products that have some. In batches, while orders and edits go on."""

from django.db import migrations
from django.db.models import Avg, Count, OuterRef, Subquery

BATCH = 200


def rate(apps, schema_editor):
    """Can run twice."""
    products, reviews = apps.get_model("stores", "Product").objects, apps.get_model("stores", "Review").objects
    of_product = reviews.filter(product=OuterRef("pk")).order_by().values("product")
    rated = list(reviews.order_by("product").values_list("product", flat=True).distinct())
    for first in range(0, len(rated), BATCH):
        products.filter(pk__in=rated[first : first + BATCH]).update(
            rating=Subquery(of_product.annotate(average=Avg("rating")).values("average")),
            review_count=Subquery(of_product.annotate(number=Count("pk")).values("number")),
        )


class Migration(migrations.Migration):
    dependencies = [("stores", "0009_product_ratings")]
    atomic = False

    operations = [migrations.RunPython(rate, migrations.RunPython.noop, elidable=True)]
