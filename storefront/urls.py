"""A store's addresses below its root: `/` of its own host, or `/store/<slug>/` (`storefront.middleware`)."""

from django.urls import path

from storefront.views import catalogue, checkout, orders, reports

app_name = "storefront"
urlpatterns = [
    path("", catalogue.home, name="home"),
    path("products/<slug:product_slug>/", catalogue.product, name="product"),
    path("products/<slug:product_slug>/add/", catalogue.add_to_cart, name="add_to_cart"),
    path("products/<slug:product_slug>/reviews/", catalogue.review, name="review"),
    path("pages/<slug:page_slug>/", catalogue.site_page, name="page"),
    path("cart/", catalogue.cart, name="cart"),
    path("cart/change/", catalogue.change_cart, name="cart_change"),
    path("cart/remove/", catalogue.remove_from_cart, name="cart_remove"),
    path("cart/attributes/", reports.cart_attributes, name="cart_attributes"),
    path("app-costs/", reports.app_costs, name="app_costs"),
    path("checkout/", checkout.checkout, name="checkout"),
    path("visit/", reports.visit, name="visit"),
    path("session-tokens/", reports.session_tokens, name="session_tokens"),
    path("orders/<str:key>/", orders.order, name="order"),
    path("orders/<str:key>/state/", orders.payment_state, name="payment_state"),
    path("orders/<str:key>/pay/", orders.pay_again, name="pay_again"),
    path("orders/<str:key>/again/", orders.again, name="order_again"),
    path("orders/<str:key>/mine/", orders.mine, name="order_is_mine"),
    path("orders/<str:key>/from-mail/", orders.as_from_mail, name="order_as_from_mail"),
]
