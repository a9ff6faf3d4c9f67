"""Mounted at `/merchant/`. Higher rooms' pages of a merchant are added in `config/urls.py`."""

from django.urls import path

from accounts.views import businesses
from installations.views import home, installed, permissions, uninstall

app_name = "merchant"

urlpatterns = [
    path("", home.home, name="home"),
    path("businesses/", businesses.business_list, name="businesses"),
    path("businesses/add/", businesses.business_add, name="business_add"),
    path("businesses/switch/", businesses.business_switch, name="business_switch"),
    path("apps/", installed.installed, name="installed"),
    path("apps/<str:installation_id>/", installed.installation, name="installation"),
    path("apps/<str:installation_id>/activity/", installed.activity, name="activity"),
    path("apps/<str:installation_id>/permissions/", permissions.reconsent, name="reconsent"),
    path("apps/<str:installation_id>/uninstall/", uninstall.uninstall, name="uninstall"),
    path("apps/<str:installation_id>/receipt/", uninstall.receipt, name="receipt"),
]
