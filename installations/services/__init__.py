"""What changes an installation. Nothing else writes the table."""

from installations.services.lifecycle import Issued, install, issue_token, uninstall
from installations.services.sandbox import test_install, test_uninstall

__all__ = ["Issued", "install", "issue_token", "test_install", "test_uninstall", "uninstall"]
