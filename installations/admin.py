"""The administration shows no credentials: of django-oauth-toolkit's own pages only those of apps stay.

Its token tables are empty here, and a grant's page would show the authorization code.
"""

from django.contrib import admin
from oauth2_provider import admin as library  # registers its pages

from installations.models import Grant

admin.site.unregister(
    [Grant, library.access_token_model, library.id_token_model, library.refresh_token_model]
)
