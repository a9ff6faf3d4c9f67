"""HTTP as it is on the wire."""

import socket
from contextlib import closing
from urllib.parse import urlsplit


def conversation(url: str, *requests: str, version: str = "1.1", host: str = "Host: 127.0.0.1\r\n") -> bytes:
    """Everything that comes back over one connection, which the last request has closed."""
    heads = [f"{request} HTTP/{version}\r\n{host}" for request in requests]
    heads[-1] += "Connection: close\r\n"
    place = urlsplit(url)
    received = b""
    with closing(socket.create_connection((place.hostname, place.port), timeout=20)) as connection:
        for head in heads:
            connection.sendall(f"{head}\r\n".encode())
        while piece := connection.recv(65_536):
            received += piece
    return received
