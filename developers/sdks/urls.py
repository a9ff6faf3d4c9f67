from django.urls import path

from developers.sdks import views

app_name = "sdks"

urlpatterns = [
    path("python/", views.index, {"registry": "python"}, name="python"),
    path("python/<slug:name>/", views.project, name="project"),
    path("python/<str:name>", views.file, {"registry": "python"}, name="wheel"),
    path("node/", views.index, {"registry": "node"}, name="node"),
    path("node/<str:name>", views.file, {"registry": "node"}, name="tarball"),
]
