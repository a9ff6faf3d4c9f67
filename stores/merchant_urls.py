"""The merchant's dashboard for the shop itself; mounted at `/merchant/` by `config/urls.py`."""

from django.urls import path

from stores.views.merchant import orders, pages, products, reviews, store

app_name = "shop"

urlpatterns = [
    path("orders/", orders.order_list, name="orders"),
    path("orders/<str:order_id>/", orders.order, name="order"),
    path("orders/<str:order_id>/status/", orders.change_status, name="order_status"),
    path("orders/<str:order_id>/cancel/", orders.cancel, name="order_cancel"),
    path("products/", products.product_list, name="products"),
    path("products/add/", products.product_add, name="product_add"),
    path("products/<str:product_id>/", products.product, name="product"),
    path("products/<str:product_id>/stock/", products.change_stock, name="product_stock"),
    path("products/<str:product_id>/archive/", products.archive, name="product_archive"),
    path("products/<str:product_id>/restore/", products.restore, name="product_restore"),
    path("products/<str:product_id>/delete/", products.delete, name="product_delete"),
    path("reviews/", reviews.review_list, name="reviews"),
    path("reviews/<str:review_id>/delete/", reviews.delete, name="review_delete"),
    path("pages/", pages.page_list, name="pages"),
    path("pages/add/", pages.page_add, name="page_add"),
    path("pages/<str:page_id>/delete/", pages.delete, name="page_delete"),
    path("store/", store.settings, name="store"),
]
