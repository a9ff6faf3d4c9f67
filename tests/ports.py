"""Free ports for processes that tests start, and stop and start again."""

import random
import socket


def free_port() -> int:
    """A free port, below those that the system hands out.

    The system may give any port above 32767 to an outgoing connection, also in the second between a server's stop and
    its next start.
    """
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
