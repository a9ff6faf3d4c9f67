"""What a command says before it ends."""

from __future__ import annotations


class CliError(Exception):
    """Ends a command: ``main`` prints the message, and the process exits with ``status``."""

    status = 1

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class UsageError(CliError):
    """The arguments make no sense."""

    status = 2
