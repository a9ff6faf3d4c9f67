"""Closes the connection of a request without a response, to show clients what happens then."""

import socket
from contextlib import suppress

from django.http import HttpRequest


def hang_up(request: HttpRequest) -> bool:
    """Shut down the connection. False if the server doesn't let us reach it, and the view must answer."""
    connection = _connection(request)
    if connection is None:
        return False
    with suppress(OSError):  # the client was quicker
        connection.shutdown(socket.SHUT_RDWR)
    return True


def _connection(request: HttpRequest) -> socket.socket | None:
    """gunicorn puts the socket into the environment, waitress a method of the object that holds it."""
    if found := request.META.get("gunicorn.socket"):
        return found
    channel = getattr(request.META.get("waitress.client_disconnected"), "__self__", None)
    return getattr(channel, "socket", None)
