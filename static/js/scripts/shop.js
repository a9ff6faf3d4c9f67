// What `/store.js` has, for pages of shops (`common.web.sheets.script_text`).
import "../shop.js";
