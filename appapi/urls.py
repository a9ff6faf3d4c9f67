from django.urls import URLPattern

app_name = "appapi"

urlpatterns: list[URLPattern] = []
