"""The services that write installations. Only `last_used_at` is written elsewhere (`installations.authentication`)."""

from installations.services.consent import approve_scopes, decline_scopes
from installations.services.lifecycle import Issued, Terms, install, issue_token, pause, resume, uninstall
from installations.services.sandbox import test_install, test_uninstall
