"""Products and their reviews: `read_products` and `read_reviews`."""

from functools import partial

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from appapi.pages import page_of
from appapi.serializers import ProductFilters, ReviewFilters
from appapi.views.base import AppApiView
from installations.limits import REVIEWS_A_PAGE
from stores import queries
from stores.models import Product
from stores.serializers import (
    PRODUCT_COLUMNS,
    REVIEW_COLUMNS,
    ProductId,
    ProductSerializer,
    ProductSlug,
    ReviewSerializer,
    ReviewStatsSerializer,
    product_payload,
    review_payload,
)


class ProductView(AppApiView):
    tag = "Products"
    required_scope = "read_products"

    def answer(self, product: Product) -> Response:
        return Response(product_payload(product, self.business.currency))


class ProductList(ProductView):
    @extend_schema("listProducts", parameters=[ProductFilters], responses=ProductSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List products.

        Unavailable products are included, archived ones are not.
        """
        query = self.query()
        page = self.page(query)
        category, available = query.text("category"), query.flag("isAvailable")
        search, since = query.text("search"), query.moment("updatedSince")
        query.check()
        listing = queries.listed_products(
            self.business, category=category, is_available=available, search=search, updated_since=since
        )
        payload = partial(product_payload, currency=self.business.currency)
        return Response(page_of(listing, page, payload, PRODUCT_COLUMNS))


class ProductDetail(ProductView):
    path_fields = {"product_id": ProductId()}

    @extend_schema("getProduct", responses=ProductSerializer)
    def get(self, request: Request, product_id: str) -> Response:
        """Get a product.

        Archived products are included.
        """
        return self.answer(queries.product_by_id(self.business, product_id))


class ProductBySlug(ProductView):
    path_fields = {"slug": ProductSlug()}

    @extend_schema("getProductBySlug", responses=ProductSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Get a product by its slug."""
        return self.answer(queries.product_by_slug(self.business, slug))


class ReviewList(AppApiView):
    tag = "Reviews"
    required_scope = "read_reviews"
    page_default, page_maximum = REVIEWS_A_PAGE

    @extend_schema("listReviews", parameters=[ReviewFilters], responses=ReviewSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List reviews."""
        query = self.query()
        page = self.page(query)
        product_id = query.text("productId")
        query.check()
        listing = queries.reviews(self.business, product_id=product_id)
        return Response(page_of(listing, page, review_payload, REVIEW_COLUMNS))


class ReviewStatistics(AppApiView):
    tag = "Reviews"
    required_scope = "read_reviews"

    @extend_schema("getReviewStats", responses=ReviewStatsSerializer)
    def get(self, request: Request) -> Response:
        """Get review statistics."""
        return Response(ReviewStatsSerializer(queries.review_stats(self.business)).data)
