"""Order Bell: a small third-party app, as its developer would write it.

It is installed on stores by OAuth, reads their products, receives their webhooks and shows what arrived. Only the
SDK and the standard library are used, so that everything an app has to do can be read here.

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
``app``            puts these together
``server``         HTTP: routes, limits, headers
``guard``          who may press the page's buttons
``pages``, ``products``, ``rows``, ``wording``, ``times``  the app's own pages
=================  =================================================
"""
