from django.urls import URLPattern

app_name = "marketplace"

urlpatterns: list[URLPattern] = []
