"""Mounted at `/merchant/apps/<installation id>/checkout/` by `config/urls.py`."""

from django.urls import path

from extensions.hooks import views

app_name = "hooks"

urlpatterns = [
    path("", views.checkout, name="checkout"),
    path("refusal/", views.refusal, name="refusal"),
    path("<str:point>/reset/", views.reset, name="reset"),
]
