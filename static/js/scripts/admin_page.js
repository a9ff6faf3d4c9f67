// The dashboard's side of an app's page. Classic scripts, as those of blocks.
import "../admin_page_host.js";
