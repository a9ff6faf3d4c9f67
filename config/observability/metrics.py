"""`/metrics` of a web server. `common.observability.exposition` has those of workers and the scheduler."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from prometheus_client import CONTENT_TYPE_LATEST

from common.errors import Unauthenticated
from common.observability import exposition
from common.web.methods import require_safe
from config.pages.views import not_found


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Needs `METRICS_TOKEN` as bearer token; a 404 if that isn't set."""
    if not settings.METRICS_TOKEN:
        return not_found(request)
    if not exposition.is_operator(request.META):
        raise Unauthenticated("Send METRICS_TOKEN: Authorization: Bearer <token>.")
    return HttpResponse(exposition.text(), content_type=CONTENT_TYPE_LATEST)
