"""What customers say, as `read_reviews` shows it."""

from rest_framework.request import Request
from rest_framework.response import Response

from appapi.pages import page_of
from appapi.views.base import AppApiView
from stores import queries
from stores.records import REVIEW_COLUMNS, review_record, review_stats_record


class ReviewList(AppApiView):
    required_scope = "read_reviews"

    def get(self, request: Request) -> Response:
        query = self.query()
        page = query.page(default=10, maximum=50)
        product_id = query.text("productId")
        query.check()
        listing = queries.reviews(self.business, product_id=product_id)
        return Response(page_of(listing, page, review_record, REVIEW_COLUMNS))


class ReviewStatistics(AppApiView):
    required_scope = "read_reviews"

    def get(self, request: Request) -> Response:
        return Response(review_stats_record(queries.review_stats(self.business)))
