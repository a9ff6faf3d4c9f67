"""What a command says before it ends."""

from __future__ import annotations


class CliError(Exception):
    """Ends a command: ``main`` prints the message, and the process exits with ``status``."""

    def __init__(self, message: str, *, status: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
