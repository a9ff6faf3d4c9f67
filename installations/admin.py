"""Removes django-oauth-toolkit's admin pages, except those of apps.

Its token tables are empty here, and the page of a grant would show the authorization code.
"""

from django.contrib import admin
from oauth2_provider import admin as library  # registers its pages

from installations.models import Grant

admin.site.unregister(
    [Grant, library.access_token_model, library.id_token_model, library.refresh_token_model]
)
