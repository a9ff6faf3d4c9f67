"""The published pages of the storefront, as `read_pages` shows them."""

from rest_framework.request import Request
from rest_framework.response import Response

from appapi.pages import page_of
from appapi.views.base import AppApiView
from stores import queries
from stores.records import PAGE_COLUMNS, page_record


class PageList(AppApiView):
    required_scope = "read_pages"

    def get(self, request: Request) -> Response:
        query = self.query()
        page = query.page()
        query.check()
        return Response(page_of(queries.published_pages(self.business), page, page_record, PAGE_COLUMNS))


class PageBySlug(AppApiView):
    required_scope = "read_pages"

    def get(self, request: Request, slug: str) -> Response:
        return Response(page_record(queries.page_by_slug(self.business, slug)))
