"""The URL at which an inbox receives webhooks. No person signs in here: the webhook's signature is the credential."""

import time
from threading import BoundedSemaphore
from typing import Final

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from common.errors import Unavailable
from common.web.errors import error_response
from common.web.hang_up import hang_up
from webhooks.enums import InboxAnswer
from webhooks.services import inboxes

SLOW: Final = 11.0  # seconds; the platform waits for ten
# A slow answer keeps a thread of the server waiting. More than these at a time are refused, so pages stay quick.
_slow_answers: Final = BoundedSemaphore(2)

STATUSES: Final = {InboxAnswer.OK: 200, InboxAnswer.GONE: 410, InboxAnswer.ERROR: 500, InboxAnswer.SLOW: 200}


@csrf_exempt
@require_POST
def receive(request: HttpRequest, key: str) -> HttpResponse:
    """Show a webhook in the inbox with this key, and answer as its developer chose."""
    inbox = inboxes.find(key)
    if len(request.body) > inboxes.MAX_BODY:
        return error_response(request, 413, f"An inbox accepts at most {inboxes.MAX_BODY} bytes.")
    answer = inboxes.receive(inbox=inbox, headers=dict(request.headers), body=request.body)
    if answer == InboxAnswer.CLOSED and not hang_up(request):
        return error_response(request, 500, "This server can't close a connection, so it answers 500.")
    if answer == InboxAnswer.SLOW:
        _wait()
    response = JsonResponse({"answer": answer.label}, status=STATUSES.get(answer, 500))
    response._has_been_logged = True  # type: ignore[attr-defined]  # noqa: SLF001  # chosen, so no error of ours
    return response


def _wait() -> None:
    if not _slow_answers.acquire(blocking=False):
        raise Unavailable("Two slow answers are under way already.", retry_after=15)
    try:
        time.sleep(SLOW)
    finally:
        _slow_answers.release()
