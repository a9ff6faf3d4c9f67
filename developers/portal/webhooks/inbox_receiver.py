"""The URL at which an inbox receives webhooks. No person signs in here: the webhook's signature is the credential."""

import time
from typing import Final

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from common import strangers
from common.strangers import may_wait_for_strangers
from common.web.errors import error_response
from common.web.middleware.hang_up import hang_up
from webhooks.enums import InboxAnswer
from webhooks.services import inboxes

SLOW: Final = 11.0  # seconds; the platform waits for ten

STATUSES: Final = {InboxAnswer.OK: 200, InboxAnswer.GONE: 410, InboxAnswer.ERROR: 500, InboxAnswer.SLOW: 200}


@may_wait_for_strangers
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
        strangers.result(_Pause(SLOW), inbox.app_id)
    response = JsonResponse({"answer": answer.label}, status=STATUSES.get(answer, 500))
    response._has_been_logged = True  # type: ignore[attr-defined]  # noqa: SLF001  # chosen, so no error of ours
    return response


class _Pause:
    """A slow answer keeps a thread waiting as a slow server does, so it needs a place, too."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def result(self, timeout: float | None = None) -> None:
        left = max(0.0, self._end - time.monotonic())
        time.sleep(left if timeout is None else min(left, timeout))
        if timeout is not None and timeout < left:
            raise TimeoutError

    def cancel(self) -> None:
        pass
