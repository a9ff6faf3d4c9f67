from django.urls import path

from config.docs import views

app_name = "docs"

urlpatterns = [
    path("openapi.json", views.openapi, name="openapi"),
]
