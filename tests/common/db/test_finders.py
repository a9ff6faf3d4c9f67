import pytest

from accounts.models import Business
from common.db.rows import first_or_not_found, get_or_not_found
from common.errors import NotFound

pytestmark = pytest.mark.django_db


def test_row_is_found_by_its_id_as_text_or_uuid(shop: Business) -> None:
    rows = Business.objects.all()
    assert get_or_not_found(rows, str(shop.pk), "Store not found") == shop
    assert get_or_not_found(rows, shop.pk, "Store not found") == shop
    assert first_or_not_found(rows.filter(slug=shop.slug), "Store not found") == shop


def test_id_of_a_row_outside_the_queryset_is_not_found(shop: Business) -> None:
    with pytest.raises(NotFound, match=r"^Store not found$"):
        get_or_not_found(Business.objects.exclude(pk=shop.pk), shop.pk, "Store not found")


@pytest.mark.parametrize("text", ["", "1", "no id", "\0", None])
def test_text_that_is_no_id_is_not_found(shop: Business, text: object) -> None:
    with pytest.raises(NotFound, match=r"^Store not found$"):
        get_or_not_found(Business.objects.all(), text, "Store not found")
