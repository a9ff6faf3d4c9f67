"""Order Bell: a small third-party app, as its developer would write it.

It is installed on stores by OAuth, reads their products, receives their webhooks and shows what arrived; it adds a
block, a script, a widget and an admin page to them, and answers their checkout. Only the SDK and the standard library
are used, so that everything an app has to do can be read here.

=================  =================================================
``__main__``       starts and ends the process
``config``         options and environment
``connections``    which stores are connected, kept in a file
``inbox``          which webhooks arrived, kept in a file
``files``          how both are written
``platform``       what the app asks of the platform
``installing``     OAuth, from Install to the connection
``start``          connects in the background when the app starts
``receiver``       what the app does with a webhook
``manifest``       what the app adds to a store
``hooks``          what the app answers when the checkout asks
``rules``          what the merchant set, for the hooks
``cache``          answers of the platform, for a few seconds
``bell_pay``       a payment, from the hook call to its end
``invoices``       which payments there are, kept in a file
``pay_page``       where a shopper pays
``recent``         what the block shows
``rings``          who pressed the widget's bell
``visitors``       who looks at the admin page
``overview``       what the admin page shows
``frames``         the pages that the platform frames
``routes``         addresses for stores, shoppers and merchants
``answers``        a request and its answer, as values
``app``            puts these together
``server``         HTTP: limits, headers, the app's own pages
``guard``          who may press the page's buttons
``pages``, ``products``, ``rows``, ``wording``, ``times``, ``document``  the app's own pages
=================  =================================================
"""
