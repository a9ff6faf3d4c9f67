from django.urls import URLPattern

app_name = "portal"

urlpatterns: list[URLPattern] = []
