from django.urls import path

from developers.sdks import views

app_name = "sdks"

urlpatterns = [
    path("python/", views.index, {"registry": "python"}, name="python"),
    path("python/<slug:name>/", views.project, name="project"),
    path("python/<str:file>", views.download, {"registry": "python"}, name="wheel"),
    path("node/", views.index, {"registry": "node"}, name="node"),
    path("node/<str:file>", views.download, {"registry": "node"}, name="tarball"),
]
