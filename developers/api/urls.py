from django.urls import URLPattern

app_name = "developer_api"

urlpatterns: list[URLPattern] = []
