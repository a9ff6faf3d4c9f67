"""Codes of OAuth consent."""

from django.db import models
from oauth2_provider.models import AbstractGrant

from accounts.models import Business
from installations.models.installations import Installation
from marketplace.models import AppVersion


class Grant(AbstractGrant):
    """An authorization code, valid for 60 seconds. It is kept for a day, and a used one as long as its token lives, so
    that a replay is recognized (`installations.services.authorization`).

    Written by `installations.services.authorization`. `installation` got its token from this code; for an unused code
    it is the one that already existed at the consent, which changed it at once. `narrows`: the request named a
    `scope`. `version` is the approved version that was shown; null is the working copy. If the request named a
    `redirect_uri`, the exchange must name it too (RFC 6749 section 4.1.3). `refused_redirect_uri` is another one with
    which an exchange came: empty if it named none, null if there was no such exchange.
    """

    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="+")
    installation = models.ForeignKey(Installation, on_delete=models.CASCADE, null=True, related_name="+")
    version = models.ForeignKey(AppVersion, on_delete=models.CASCADE, null=True, related_name="+")
    narrows = models.BooleanField(default=False)
    names_redirect_uri = models.BooleanField(default=False)
    used_at = models.DateTimeField(null=True, blank=True)
    refused_redirect_uri = models.TextField(null=True, blank=True)
