"""URLs of the app API. No route ends with a slash: `ApiPathMiddleware` removes it."""

from django.urls import path, re_path

from appapi.views import store, webhooks
from appapi.views.base import UnknownPath
from appapi.views.exports import EventFeed, ExportDetail, ExportFile, ExportList
from appapi.views.orders import (
    OrderAttributes,
    OrderDetail,
    OrderList,
    OrderPayment,
    OrderStatusView,
    PaymentMethods,
)
from common.web.methods import at_no_page

app_name = "appapi"

urlpatterns = [
    path("app-api/products", store.ProductList.as_view(), name="products"),
    path("app-api/products/slug/<str:slug>", store.ProductBySlug.as_view(), name="product-by-slug"),
    path("app-api/products/<str:product_id>", store.ProductDetail.as_view(), name="product"),
    path("app-api/orders", OrderList.as_view(), name="orders"),
    path("app-api/orders/<str:order_id>", OrderDetail.as_view(), name="order"),
    path("app-api/orders/<str:order_id>/status", OrderStatusView.as_view(), name="order-status"),
    path("app-api/orders/<str:order_id>/payment", OrderPayment.as_view(), name="order-payment"),
    path("app-api/orders/<str:order_id>/attributes", OrderAttributes.as_view(), name="order-attributes"),
    path("app-api/payment-methods", PaymentMethods.as_view(), name="payment-methods"),
    path("app-api/reviews", store.ReviewList.as_view(), name="reviews"),
    path("app-api/reviews/stats", store.ReviewStatistics.as_view(), name="review-stats"),
    path("app-api/analytics/dashboard", store.AnalyticsDashboard.as_view(), name="dashboard"),
    path("app-api/business", store.BusinessDetail.as_view(), name="business"),
    path("app-api/pages", store.PageList.as_view(), name="pages"),
    path("app-api/pages/<str:slug>", store.PageBySlug.as_view(), name="page"),
    path("app-api/events", EventFeed.as_view(), name="events"),
    path("app-api/exports", ExportList.as_view(), name="exports"),
    path("app-api/exports/<str:export_id>", ExportDetail.as_view(), name="export"),
    path("app-api/exports/<str:export_id>/file", ExportFile.as_view(), name="export-file"),
    path("app-api/installation", store.OwnInstallation.as_view(), name="installation"),
    path("webhooks", webhooks.WebhookList.as_view(), name="webhooks"),
    path("webhooks/<str:webhook_id>", webhooks.WebhookDetail.as_view(), name="webhook"),
    path("webhooks/<str:webhook_id>/deliveries", webhooks.DeliveryList.as_view(), name="deliveries"),
    path(
        "webhooks/<str:webhook_id>/deliveries/<str:delivery_id>",
        webhooks.DeliveryDetail.as_view(),
        name="delivery",
    ),
    path(
        "webhooks/<str:webhook_id>/deliveries/<str:delivery_id>/redeliver",
        webhooks.Redelivery.as_view(),
        name="redeliver",
    ),
    path("webhooks/<str:webhook_id>/recover", webhooks.Recovery.as_view(), name="recover"),
    path("webhooks/<str:webhook_id>/test", webhooks.WebhookTest.as_view(), name="webhook-test"),
    re_path(r"^(?:app-api|webhooks)(?:/|$)", at_no_page(UnknownPath.as_view()), name="unknown"),
]
