"""The URLs of the stores' hosts. `storefront.middleware` removes the store's root from a path first."""

from django.urls import include, path, re_path

from config.pages import views
from merchants.products import pictures

urlpatterns = [
    path(".well-known/security.txt", views.security_txt),
    path("media/platform/<str:name>", views.brand_part, name="brand_part"),
    path("media/pictures/<uuid:picture_id>", pictures.picture),
    path("media/stores/<uuid:picture_id>", pictures.store_picture),
    path("media/stores/<uuid:picture_id>/thumbnail", pictures.store_picture, {"small": True}),
    path("", include("storefront.urls")),
    re_path("", views.not_found),
]
