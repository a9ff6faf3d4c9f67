"""The merchants' door: their dashboard, the marketplace, and the page that asks for consent; mounted at `/`."""

from django.urls import include, path

from accounts.access import only_with
from common.web.middleware.frames import framable
from merchants.consent import views as permissions
from merchants.consent.views import AuthorizeView, go_on
from merchants.customers import views as customers
from merchants.installed import settings
from merchants.installed import settings as app_settings
from merchants.installed import views as installed
from merchants.marketplace import views as marketplace
from merchants.orders import bulk
from merchants.orders import views as orders
from merchants.pages import editor as page_editor
from merchants.pages import views as pages
from merchants.products import pictures
from merchants.products import views as products
from merchants.reviews import views as reviews
from merchants.staff import views as staff
from merchants.store import views as store
from merchants.trials import views as trials

app_name = "merchants"

store_pages = [
    path("", store.home, name="home"),
    path("notices/", store.notices, name="notices"),
    *only_with(
        "businesses",
        path("businesses/", store.business_list, name="businesses"),
        path("businesses/add/", store.business_add, name="business_add"),
        path("businesses/switch/", store.business_switch, name="business_switch"),
        path("businesses/<str:business_id>/leave/", staff.leave, name="business_leave"),
    ),
    *only_with(
        "staff",
        path("staff/", staff.staff_list, name="staff"),
        path("staff/<str:member_id>/role/", staff.staff_role, name="staff_role"),
        path("staff/<str:member_id>/remove/", staff.staff_remove, name="staff_remove"),
    ),
    path("invitations/<str:token>/", staff.invitation, name="invitation"),
    path("invitations/<str:token>/register/", staff.invitation_register, name="invitation_register"),
    *only_with(
        "orders",
        path("orders/", orders.order_list, name="orders"),
        path("orders/export.csv", orders.export, name="orders_export"),
        path("orders/move/", bulk.move_several, name="orders_move"),
        path("orders/news/", bulk.news, name="order_news"),
        path("orders/<str:order_id>/", orders.order, name="order"),
        path("orders/<str:order_id>/packing-slip/", orders.packing_slip, name="packing_slip"),
        path("orders/<str:order_id>/status/", orders.change_status, name="order_status"),
        path("orders/<str:order_id>/cancel/", orders.cancel, name="order_cancel"),
        path("orders/<str:order_id>/refund/", orders.refund, name="order_refund"),
        path("orders/<str:order_id>/note/", orders.add_note, name="order_note"),
    ),
    *only_with(
        "products",
        path("products/", products.product_list, name="products"),
        path("products/add/", products.product_add, name="product_add"),
        path("products/samples/", products.add_samples, name="product_samples"),
        path("products/<str:product_id>/", products.product, name="product"),
        path("products/<str:product_id>/row/", products.change_row, name="product_row"),
        path("products/<str:product_id>/archive/", products.archive, name="product_archive"),
        path("products/<str:product_id>/restore/", products.restore, name="product_restore"),
        path("products/<str:product_id>/delete/", products.delete, name="product_delete"),
    ),
    *only_with(
        "reviews",
        path("reviews/", reviews.review_list, name="reviews"),
        path("reviews/<str:review_id>/delete/", reviews.delete, name="review_delete"),
    ),
    *only_with(
        "customers",
        path("customers/", customers.customers, name="customers"),
        path("customers/<str:customer_id>/", customers.customer, name="customer"),
        path("customers/<str:customer_id>/export.json", customers.export, name="customer_export"),
        path("customers/<str:customer_id>/erase/", customers.erase, name="customer_erase"),
        path("customers/erasures/<str:erasure_id>/", customers.erasure, name="customer_erasure"),
    ),
    *only_with(
        "scripts",
        path("scripts/", store.scripts, name="scripts"),
        path("scripts/inventory.csv", store.export, name="scripts_export"),
    ),
    *only_with(
        "settings",
        path("store/", store.settings, name="store"),
        path("store/view/", store.view, name="view_store"),
    ),
]

page_editor_pages = [
    path("", pages.page_list, name="pages"),
    *only_with(
        "page_texts",
        path("add/", pages.page_add, name="page_add"),
        path("picture/", pages.add_picture, name="page_picture"),
        path("<str:page_id>/delete/", pages.delete, name="page_delete"),
    ),
    path("<str:page_id>/edit/", page_editor.editor, name="page_editor"),
    *only_with(
        "page_texts",
        path("<str:page_id>/text/", page_editor.preview_text, name="preview_text"),
    ),
    path("<str:page_id>/undo/", page_editor.undo, name="page_undo"),
    path("<str:page_id>/session-tokens/", page_editor.session_tokens, name="block_tokens"),
    path("<str:page_id>/blocks/", page_editor.add_block, name="add_block"),
    path("<str:page_id>/blocks/<str:placement_id>/", page_editor.save_block, name="save_block"),
    path("<str:page_id>/blocks/<str:placement_id>/preview/", page_editor.preview_block, name="preview_block"),
    path("<str:page_id>/blocks/<str:placement_id>/move/", page_editor.move_block, name="move_block"),
    path("<str:page_id>/blocks/<str:placement_id>/remove/", page_editor.remove_block, name="remove_block"),
]

app_pages = [
    path("", framable(installed.installation), name="installation"),
    path("welcome/", framable(app_settings.welcome), name="welcome"),
    path("activity/", framable(installed.activity), name="activity"),
    path("permissions/", permissions.reconsent, name="reconsent"),
    path("settings/", framable(app_settings.app_settings), name="app_settings"),
    path("checkout/", framable(settings.checkout), name="checkout"),
    path("checkout/refusal/", framable(settings.checkout_refusal), name="checkout_refusal"),
    path("checkout/<str:point>/reset/", framable(settings.checkout_reset), name="hook_reset"),
    path("embeds/", framable(app_settings.embeds), name="embeds"),
    path("embeds/<str:embed_id>/", framable(app_settings.embed_settings), name="embed_settings"),
    path("blocks/", page_editor.place_block, name="place_block"),
    path("pages/<str:page_id>/", framable(installed.admin_page), name="admin_page"),
    path("session-token/", installed.new_session_token, name="session_token"),
    path("pause/", framable(installed.pause), name="pause"),
    path("resume/", framable(installed.resume), name="resume"),
    path("uninstall/", installed.uninstall, name="uninstall"),
    path("receipt/", framable(installed.receipt), name="receipt"),
]

urlpatterns = [
    path("merchant/", include(store_pages)),
    path("merchant/pages/", include(page_editor_pages)),
    path("merchant/apps/", framable(installed.installed), name="installed"),
    path("merchant/apps/<str:installation_id>/", include(app_pages)),
    path("marketplace/", framable(marketplace.index), name="marketplace"),
    path("marketplace/<slug:slug>/", framable(marketplace.app_page), name="listing"),
    path("marketplace/<slug:slug>/preview/", framable(marketplace.preview), name="listing_preview"),
    path("marketplace/<slug:slug>/try/", trials.start, name="try"),
    path("marketplace/trials/<uuid:trial_id>/", trials.wait, name="trial"),
    path("merchant/trial/back/", trials.back, name="trial_back"),
    path("merchant/trial/copy/", trials.open_copy, name="trial_copy"),
    path("merchant/trial/end/", trials.end, name="trial_end"),
    path("media/pictures/<uuid:picture_id>", pictures.picture, name="picture"),
    path("media/stores/<uuid:picture_id>", pictures.store_picture, name="store_picture"),
    path(
        "media/stores/<uuid:picture_id>/thumbnail",
        pictures.store_picture,
        {"small": True},
        name="store_thumbnail",
    ),
    path("oauth/authorize", AuthorizeView.as_view(), name="authorize"),
    path("merchant/continue/<str:key>/", go_on, name="continue"),
    path("oauth/requests/<str:key>/", go_on, name="kept_request"),  # in mails of before
]
