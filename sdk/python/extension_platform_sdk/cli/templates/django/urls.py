"""The app's addresses. Its functions are in `handlers.py`."""

import views
from django.urls import path
from extension_platform_sdk.adapters.django import view
from handlers import hooks, webhooks
from installations import secret_of

urlpatterns = [
    path("", views.home),
    path("block", views.block),
    path("install", views.install),
    path("callback", views.callback),
    path("welcome", views.welcome),
    path("webhooks", view(webhooks, secret_of)),
    path("webhooks/hooks", view(hooks, secret_of)),
]
