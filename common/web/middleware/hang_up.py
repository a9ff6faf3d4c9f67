"""The connection beneath a request: closing it without a response, to show clients what happens then, and seeing that
the client has closed it.
"""

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


def has_hung_up(request: HttpRequest) -> bool:
    """Whether the client has closed the connection. False where the server doesn't let us look."""
    connection = _connection(request)
    if connection is None:
        return False
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except (OSError, ValueError) as error:  # ValueError: TLS, where nothing can be seen
        return isinstance(error, OSError)


def _connection(request: HttpRequest) -> socket.socket | None:
    """gunicorn puts the socket into the environment, waitress a method of the object that holds it."""
    if found := request.META.get("gunicorn.socket"):
        return found
    channel = getattr(request.META.get("waitress.client_disconnected"), "__self__", None)
    return getattr(channel, "socket", None)
