"""Products, as `read_products` shows them."""

from functools import partial

from rest_framework.request import Request
from rest_framework.response import Response

from appapi.pages import page_of
from appapi.views.base import AppApiView
from common.ids import parse_id
from stores import queries
from stores.models import Product
from stores.records import PRODUCT_COLUMNS, product_record


class ProductView(AppApiView):
    required_scope = "read_products"

    def answer(self, product: Product) -> Response:
        return Response(product_record(product, self.business.currency))


class ProductList(ProductView):
    def get(self, request: Request) -> Response:
        query = self.query()
        page = query.page()
        category, available = query.text("category"), query.flag("isAvailable")
        search, since = query.text("search"), query.moment("updatedSince")
        query.check()
        listing = queries.listed_products(
            self.business, category=category, is_available=available, search=search, updated_since=since
        )
        record = partial(product_record, currency=self.business.currency)
        return Response(page_of(listing, page, record, PRODUCT_COLUMNS))


class ProductDetail(ProductView):
    def get(self, request: Request, product_id: str) -> Response:
        return self.answer(queries.product_by_id(self.business, parse_id(product_id)))


class ProductBySlug(ProductView):
    def get(self, request: Request, slug: str) -> Response:
        return self.answer(queries.product_by_slug(self.business, slug))
