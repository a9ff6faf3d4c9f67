"""What changes an installation. Nothing else writes the table, but for `last_used_at` (`installations.authentication`)."""

from installations.services.consent import approve_scopes, decline_scopes
from installations.services.lifecycle import Issued, install, issue_token, uninstall
from installations.services.sandbox import test_install, test_uninstall

__all__ = [
    "Issued",
    "approve_scopes",
    "decline_scopes",
    "install",
    "issue_token",
    "test_install",
    "test_uninstall",
    "uninstall",
]
