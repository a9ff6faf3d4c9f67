// The documentation's pages.
import "../site.js";
import "../search.js";
import "../docs.js";
