// One page of a storefront, in place of the one that a headless shop has somewhere else: products, and what apps add.

const { Order, ProductVariantService } = require("@vendure/core");

const PAGE = "home";
const KEPT_FOR = 30_000; // ms, for which the platform's answer may be kept

const escaped = (text) => text.replace(/[&<>"']/g, (each) => `&#${each.charCodeAt(0)};`);

/** A handler for Express. `plugin.shop` is there once the server has started. */
function storefront(plugin, platform) {
  let hosts = { scripts: [], frames: [] };
  let until = 0;
  return async (request, response) => {
    const { shop } = plugin;
    if (Date.now() >= until) {
      until = Date.now() + KEPT_FOR;
      hosts = await shop.platform.call("GET", `/placements?page=${PAGE}`, undefined, { timeout: 1_000 }).then(
        (placed) => placed.hosts,
        () => hosts,
      );
    }
    const names = [...(await shop.rows.read("products", await shop.rows.ids("products"))).values()].map(
      (row) => row.name,
    );
    const business = (await shop.outbox().noted("business")) ?? "";
    const scripts = ["script-src", platform, ...hosts.scripts].join(" ");
    const frames = ["frame-src", ...(hosts.frames.length ? hosts.frames : ["'none'"])].join(" ");
    const policy = `${scripts}; connect-src ${platform}; ${frames}; frame-ancestors 'self' ${platform}`;
    response.set("Content-Security-Policy", policy).type("html").send(`<!doctype html>
<html lang="en">
  <head><meta charset="utf-8"><title>Harbor Goods</title></head>
  <body>
    <h1>Harbor Goods</h1>
    <ul>${names.map((name) => `<li>${escaped(name)}</li>`).join("")}</ul>
    <div data-extension-blocks></div>
    <script async src="${platform}/store.js" data-store="${business}" data-page="${PAGE}"></script>
  </body>
</html>`);
  };
}

module.exports = { storefront, PAGE };
