from django.urls import path

from installations.views.metadata import jwks, metadata, protected_resource
from installations.views.token import RevokeView, TokenView

app_name = "oauth"

urlpatterns = [
    path("oauth/token", TokenView.as_view(), name="token"),
    path("oauth/revoke", RevokeView.as_view(), name="revoke"),
    path(".well-known/oauth-authorization-server", metadata, name="metadata"),
    path(".well-known/jwks.json", jwks, name="jwks"),
    path(".well-known/oauth-protected-resource", protected_resource, name="protected_resource"),
]
