"""The feed of events."""

import orjson
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from appapi.serializers import FeedFilters, FeedSerializer
from appapi.views.base import AppApiView
from common.rest.schema import problem
from installations.limits import EVENTS_A_PAGE
from marketplace.scopes import SCOPE_OF_EVENT, in_order
from webhooks.catalogue import SUBSCRIBABLE
from webhooks.feed import FeedEvent, read_feed


class EventFeed(AppApiView):
    tag = "Events"
    required_scope = None
    page_default, page_maximum = EVENTS_A_PAGE

    @extend_schema(
        "listEvents",
        parameters=[FeedFilters],
        responses={200: FeedSerializer, 410: problem("The cursor is too old; `message` has the oldest one.")},
    )
    def get(self, request: Request) -> Response:
        """Read the feed of events.

        The events that your scopes allow, oldest first, from the installation on, kept for 30 days. Nothing is ever added
        before a cursor that you were given: keep `nextCursor`, and send it as `after` next time.
        """
        query = self.query()
        types = query.names("type", SUBSCRIBABLE)
        limit = query.limit(default=self.page_default, maximum=self.page_maximum)
        query.check()
        page = read_feed(
            installation=self.installation,
            after=query.values.get("after"),
            types=types,
            limit=limit,
            now=timezone.now(),
        )
        self.uses(
            *in_order(SCOPE_OF_EVENT[event.type] for event in page.events if event.type in SCOPE_OF_EVENT)
        )
        body = {
            "data": list(map(event_payload, page.events, page.cursors())),
            "nextCursor": str(page.next),
            "hasMore": page.has_more,
        }
        return Response(body)


def event_payload(event: FeedEvent, cursor: str) -> dict[str, object]:
    return {
        "id": str(event.id),
        "event": event.type,
        "timestamp": event.timestamp,
        "data": orjson.Fragment(event.data),
        "cursor": cursor,
    }
