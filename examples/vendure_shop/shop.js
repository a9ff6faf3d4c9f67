// The shop: a Vendure server as it comes, and what it needs to be connected. `node shop.js serve` is its web server, `work` its worker
// with the sender; `prepare` makes its tables and products, and `erase EMAIL` erases a customer.

const core = require("@vendure/core");
const { PlatformPlugin } = require("./plugin");
const { storefront, PAGE } = require("./storefront");
const { prepare } = require("./prepare");
const { erase } = require("./erase");

const { env } = process;
const url = env.SHOP_URL ?? "http://localhost:3000";
const [command, argument] = process.argv.slice(2);

const config = {
  apiOptions: {
    port: Number(new URL(url).port),
    hostname: "127.0.0.1",
    adminApiPath: "admin-api",
    shopApiPath: "shop-api",
    cors: false,
    csrfPrevention: true,
    middleware: [{ route: "/shop", handler: storefront(PlatformPlugin, env.PLATFORM_URL), beforeListen: true }],
  },
  authOptions: {
    tokenMethod: ["bearer", "cookie"],
    superadminCredentials: { identifier: "owner@harbor.example", password: env.SHOP_PASSWORD },
    cookieOptions: { secret: env.SHOP_PASSWORD },
  },
  dbConnectionOptions: {
    type: "postgres",
    url: env.SHOP_DATABASE_URL,
    synchronize: command === "prepare",
    logging: false,
  },
  paymentOptions: { paymentMethodHandlers: [core.dummyPaymentHandler] },
  logger: new core.DefaultLogger({ level: core.LogLevel.Warn, timestamp: true }),
  plugins: [
    PlatformPlugin.init({
      url: env.PLATFORM_URL,
      key: env.PLATFORM_KEY ?? "not connected",
      secret: env.PLATFORM_SECRET ?? "not connected",
      store: env.PLATFORM_STORE ?? "main",
      record: { name: "Harbor Goods", currency: "USD", storefrontUrl: url },
      pages: { home: { slug: PAGE, title: "All products of Harbor Goods", url: `${url}/shop` } },
      budgetMs: Number(env.PLATFORM_BUDGET_MS ?? 2_000),
      pushes: command === "work",
    }),
  ],
};

async function main() {
  if (command === "serve") return core.bootstrap(config);
  if (command === "prepare") return prepare(config, PlatformPlugin);
  const { app } = await core.bootstrapWorker(config);
  const { shop } = PlatformPlugin;
  if (argument === "--compare") await shop.outbox().note("compared", 0);
  if (command === "erase") await erase(app, shop, argument);
  if (command !== "work") await app.close();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
