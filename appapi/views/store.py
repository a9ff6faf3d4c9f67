"""The store: its data, site pages and sales figures, products and their reviews, and the app's own installation on it."""

from functools import partial

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import Business
from appapi.pages import page_of
from appapi.serializers import DashboardPeriod, InstallationSerializer, ProductFilters, ReviewFilters
from appapi.views.base import AppApiView
from common.rest.fields import Text
from common.times import iso
from extensions.queries import settings_of
from installations.limits import REVIEWS_A_PAGE
from stores import queries, serializers
from stores.dashboard import DEFAULT_DAYS, MAX_DAYS, dashboard
from stores.models import Product
from stores.records import ProductRecord


class BusinessDetail(AppApiView):
    tag = "Business and site"
    required_scope = "read_business"

    @extend_schema("getBusiness", responses=serializers.BusinessSerializer)
    def get(self, request: Request) -> Response:
        """Get the business."""
        # Authentication read only the columns that most calls need.
        return Response(serializers.BusinessSerializer(Business.objects.get(pk=self.business.pk)).data)


class PageList(AppApiView):
    tag = "Business and site"
    required_scope = "read_pages"

    @extend_schema("listPages", responses=serializers.PageSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List site pages.

        Published ones only.
        """
        query = self.query()
        page = self.page(query)
        query.check()
        return Response(
            page_of(
                queries.published_pages(self.business),
                page,
                serializers.page_payload,
                serializers.PAGE_COLUMNS,
            )
        )


class PageBySlug(AppApiView):
    tag = "Business and site"
    path_fields = {"slug": Text("The page's name in URLs.", "about")}
    required_scope = "read_pages"

    @extend_schema("getPage", responses=serializers.PageSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Get a site page."""
        return Response(serializers.page_payload(queries.page_by_slug(self.business, slug)))


class AnalyticsDashboard(AppApiView):
    tag = "Business and site"
    required_scope = "read_analytics"

    @extend_schema("getDashboard", parameters=[DashboardPeriod], responses=serializers.DashboardSerializer)
    def get(self, request: Request) -> Response:
        """Get sales figures.

        Cancelled orders are counted but bring no revenue.
        """
        query = self.query()
        days = query.integer("days", default=DEFAULT_DAYS, least=1, most=MAX_DAYS)
        query.check()
        figures = dashboard(self.business, days=days)
        return Response(serializers.DashboardSerializer(figures, context={"currency": figures.currency}).data)


class OwnInstallation(AppApiView):
    tag = "Installation"
    required_scope = None

    @extend_schema("getInstallation", responses=InstallationSerializer)
    def get(self, request: Request) -> Response:
        """Get the installation."""
        installation = self.installation
        return Response(
            {
                "installationId": str(installation.pk),
                "businessId": str(installation.business_id),
                "isTestInstall": installation.is_test,
                "needsReConsent": installation.needs_reconsent,
                "scopes": installation.effective_scopes,
                "settings": settings_of(installation),
                "installedAt": iso(installation.installed_at),
            }
        )


# --- Products and their reviews ----------------------------------------------------------------------


class ProductView(AppApiView):
    tag = "Products"
    required_scope = "read_products"

    def answer(self, product: Product) -> Response:
        currency = self.business.currency
        return Response(serializers.product_payload(ProductRecord.of(product, currency), currency))


class ProductList(ProductView):
    @extend_schema(
        "listProducts", parameters=[ProductFilters], responses=serializers.ProductSerializer(many=True)
    )
    def get(self, request: Request) -> Response:
        """List products.

        Unavailable products are included, archived ones are not.
        """
        query = self.query()
        page = self.page(query)
        category, available = query.text("category"), query.flag("isAvailable")
        search, since = query.text("search"), query.moment("updatedSince")
        external_id = query.text("externalId")
        query.check()
        listing = queries.listed_products(
            self.business,
            category=category,
            is_available=available,
            search=search,
            updated_since=since,
            external_id=external_id,
        )
        payload = partial(serializers.product_payload, currency=self.business.currency)
        return Response(page_of(listing, page, payload, serializers.PRODUCT_COLUMNS))


class ProductDetail(ProductView):
    path_fields = {"product_id": serializers.ProductId()}

    @extend_schema("getProduct", responses=serializers.ProductSerializer)
    def get(self, request: Request, product_id: str) -> Response:
        """Get a product.

        Archived products are included.
        """
        return self.answer(queries.product_by_id(self.business, product_id))


class ProductBySlug(ProductView):
    path_fields = {"slug": serializers.ProductSlug()}

    @extend_schema("getProductBySlug", responses=serializers.ProductSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Get a product by its slug."""
        return self.answer(queries.product_by_slug(self.business, slug))


class ReviewList(AppApiView):
    tag = "Reviews"
    required_scope = "read_reviews"
    page_default, page_maximum = REVIEWS_A_PAGE

    @extend_schema(
        "listReviews", parameters=[ReviewFilters], responses=serializers.ReviewSerializer(many=True)
    )
    def get(self, request: Request) -> Response:
        """List reviews."""
        query = self.query()
        page = self.page(query)
        product_id, external_id = query.text("productId"), query.text("externalId")
        query.check()
        listing = queries.reviews(self.business, product_id=product_id, external_id=external_id)
        return Response(page_of(listing, page, serializers.review_payload, serializers.REVIEW_COLUMNS))


class ReviewStatistics(AppApiView):
    tag = "Reviews"
    required_scope = "read_reviews"

    @extend_schema("getReviewStats", responses=serializers.ReviewStatsSerializer)
    def get(self, request: Request) -> Response:
        """Get review statistics."""
        return Response(serializers.ReviewStatsSerializer(queries.review_stats(self.business)).data)
