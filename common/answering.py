"""Django's middleware that asks or writes the database after the view has answered.

What it raises never comes to `ErrorMiddleware`, since Django turns it into its own page of HTML on the way out. So it
is answered right here.
"""

from django.contrib.messages import middleware as messages
from django.contrib.sessions import middleware as sessions
from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from common.middleware import answer_to


class _Answering(MiddlewareMixin):
    def __call__(self, request: HttpRequest) -> HttpResponse:
        try:
            return super().__call__(request)  # type: ignore[return-value]
        except Exception as error:
            return answer_to(request, error)


class SessionMiddleware(_Answering, sessions.SessionMiddleware):
    """Saves what a view has changed."""


class MessageMiddleware(_Answering, messages.MessageMiddleware):
    """Keeps what nobody was shown yet; in the session, where it is too long for a cookie."""
