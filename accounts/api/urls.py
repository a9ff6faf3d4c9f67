from django.urls import URLPattern

app_name = "auth"

urlpatterns: list[URLPattern] = []
