"""Queries whose SQL is written once answer as the ORM does."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings as product_settings
from django.db import connection, transaction
from django.db.models import CharField, F, UUIDField, Value
from django.db.models.functions import Concat
from django.test.utils import CaptureQueriesContext
from django.urls import get_resolver
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import Business, User
from appapi.views.store import ProductList
from common.db import compiled
from common.db.compiled import AmongIds, Compiled, Param, rows_of_each
from common.db.transactions import of_one_moment
from common.rest.deprecation import Deprecation, deprecated_operations
from developers.portal.apps import rows as rows_of_apps
from stores.models import Order, OrderItem, Product
from tests import factories

BUSINESS = Param("business", UUIDField())


@pytest.fixture
def shop(mira: User) -> Business:
    return factories.business(mira)


def test_tuples_have_the_types_that_the_orm_gives(shop: Business) -> None:
    factories.product(shop, name="Tea", stock=None)
    factories.product(shop, name="Größe", is_available=False)
    columns = ("id", "name", "is_available", "stock", "created_at", "price")
    query = Compiled(lambda: Product.objects.filter(business=BUSINESS).order_by("-id").values_list(*columns))
    usual = Product.objects.filter(business=shop).order_by("-id").values_list(*columns)
    for _ in range(2):  # the first time it is written, then it is kept
        assert [tuple(row) for row in query.rows(business=shop.pk)] == list(usual)
    assert [tuple(row) for row in query.rows(limit=1, offset=1, business=shop.pk)] == [usual[1]]


def test_instances_come_with_what_was_selected(
    shop: Business, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    order = factories.order(shop)
    OrderItem.objects.create(order=order, product_id=order.pk, name="Tea", quantity=2, price=100)
    query: Compiled[Any] = Compiled(
        lambda: (
            Order.objects.filter(business=BUSINESS, number=Param("number", CharField()))
            .select_related("payment", "business")
            .prefetch_related("items")
            .annotate(label=Concat(Value("No. "), F("number")))
        )
    )
    for paid in (False, True):
        payment = factories.payment(order) if paid else None
        with django_assert_num_queries(2):
            found = query.first(business=shop.pk, number=order.number)
            assert found == order
            assert found.business == shop
            assert getattr(found, "payment", None) == payment
            assert [item.name for item in found.items.all()] == ["Tea"]
            assert found.label == f"No. {order.number}"
    assert query.first(business=shop.pk, number="%s' OR 1=1") is None


def test_rows_share_the_instances_that_they_are_related_to(shop: Business, sandbox: Business) -> None:
    for business in (shop, shop, sandbox):
        factories.product(business)
    query: Compiled[Any] = Compiled(lambda: Product.objects.select_related("business__owner").order_by("id"))
    first, second, other = [each.business for each in query.rows()]
    assert (first, other) == (shop, sandbox)
    assert first is second
    assert first.owner == shop.owner
    assert query.rows()[0].business is not first


def test_remembered_row_gives_its_instance_until_it_changes(shop: Business) -> None:
    product = factories.product(shop, name="Tea")
    query: Compiled[Any] = Compiled(lambda: Product.objects.select_related("business"), remembered=10)
    first = query.rows()[0]
    assert query.rows()[0] is first
    shop.name = "Another name"
    shop.save()
    changed = query.rows()[0]
    assert (changed, changed.business.name) == (product, "Another name")


def test_instances_of_rows_that_are_not_read_again_are_forgotten(
    shop: Business, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a dispatcher would keep the webhooks of stores that have long uninstalled the app."""
    tea, *others = (factories.product(shop) for _ in range(5))
    now = 1000.0
    monkeypatch.setattr(compiled, "monotonic", lambda: now)
    query: Compiled[Any] = Compiled(lambda: Product.objects.filter(AmongIds("id", "ids")), remembered=4)

    def read(*products: Product) -> Any:
        return query.rows(ids={product.pk for product in products})[0]

    first = read(tea)
    now += 50
    assert read(tea) is first
    now += 50
    assert read(tea) is first  # it was used within the last minute
    for _ in range(2):
        now += 61
        read(others[0])
    second = read(tea)
    assert second is not first

    for other in others:  # too many
        read(other)
    assert read(tea) is not second


@pytest.mark.postgres
def test_prepared_rows_are_the_same_and_planned_once(shop: Business, sandbox: Business) -> None:
    factories.product(shop, name="100 %")
    factories.product(sandbox, name="100 %")
    products = Product.objects.filter(business=BUSINESS, name__in=["100 %", "%s"]).annotate(
        label=Concat("name", Value("%"))
    )
    query: Compiled[Any] = Compiled(lambda: products, prepared_as="of_a_test")
    for business in (shop, sandbox, shop):
        [found] = rows_of_each((query, {"business": business.pk}), prepared=True)
        assert found == query.rows(business=business.pk) != []
        assert [product.label for product in found] == ["100 %%"]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT generic_plans + custom_plans FROM pg_prepared_statements WHERE name = 'of_a_test'"
        )
        assert cursor.fetchall() == [(3,)]


def test_values_differ_from_use_to_use(shop: Business, sandbox: Business) -> None:
    mine, theirs = factories.product(shop), factories.product(sandbox)
    query: Compiled[Any] = Compiled(lambda: Product.objects.filter(business=BUSINESS))
    assert query.rows(business=shop.pk) == [mine]
    assert query.rows(business=sandbox.pk) == [theirs]


def test_one_placeholder_stands_for_many_ids(
    shop: Business, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    tea, cake, _ = (factories.product(shop, name=name) for name in ("Tea", "Cake", "Bread"))
    query: Compiled[Any] = Compiled(lambda: Product.objects.filter(AmongIds("id", "ids")).order_by("name"))
    for ids, names in (({tea.pk, cake.pk}, ["Cake", "Tea"]), ([tea.pk], ["Tea"]), ([shop.pk], []), ([], [])):
        with django_assert_num_queries(1):
            assert [product.name for product in query.rows(ids=ids)] == names


@pytest.mark.postgres
@pytest.mark.django_db
def test_each_named_query_can_be_planned_without_its_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL has to know the type of each. Most tests run in a transaction, where they are asked with their values."""
    ends = Deprecation(since=timezone.now(), end=timezone.now() + timedelta(days=400), instead="Use another.")
    monkeypatch.setattr(ProductList, "deprecations", {"GET": ends})
    for urlconf in (product_settings.ROOT_URLCONF, product_settings.ZONES["stores"]["urlconf"]):
        assert get_resolver(urlconf).url_patterns  # which imports all pages
    rows_of_apps._compiled(tuple(deprecated_operations()))  # noqa: SLF001  each such list has queries of its own
    assert len(Compiled.named) > 15
    connection.ensure_connection()
    for name, query in Compiled.named.items():
        prepared = query._text(connection).prepared  # noqa: SLF001
        assert prepared, name
        with connection.cursor() as cursor:
            prepared.prepare(cursor)


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_named_query_is_planned_once_for_a_session(shop: Business, settings: Any) -> None:
    """And not where a transaction could be lost with it, or behind a pooler, where the next statement may be another session's."""
    factories.product(shop, name="Tea")
    query = Compiled(
        lambda: Product.objects.filter(business=BUSINESS).values_list("name"), prepared_as="test_of_names"
    )

    def asked(limit: int | None = None) -> list[str]:
        with CaptureQueriesContext(connection) as context:
            assert query.rows(business=shop.pk, limit=limit) == [("Tea",)] * (1 if limit is None else limit)
        return [each["sql"].split()[0] for each in context.captured_queries]

    for limit in (None, 0, 1):
        assert asked(limit) == ["PREPARE", "EXECUTE"]
        assert asked(limit) == ["EXECUTE"]
    with transaction.atomic():
        assert asked() == ["SELECT"]
    assert of_one_moment(asked) == ["EXECUTE"]
    settings.DATABASE_POOLER = "transaction"
    assert asked() == ["SELECT"]
