// What every page of the platform loads. Each part finds its elements by a data attribute.
import "../site.js";
import "../search.js";
import "../live.js";
import "../live_part.js";
import "../news.js";
import "../selection.js";
import "../settings_form.js";
import "../row_form.js";
import "../lightbox.js";
import "../print.js";
import "../crosshair.js";
