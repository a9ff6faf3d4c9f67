// Makes the shop's tables and twelve products, and does what its administrator would do once to connect it: a promotion for what apps
// take off, and a way of delivery at the rate that apps set.

const core = require("@vendure/core");
const { populateInitialData } = require("@vendure/core/cli");

const GOODS = {
  Kitchen: { "Cast iron pan": 38, "Bread knife": 24.5, "Olive board": 19.9, "Tea kettle": 45 },
  Table: { "Linen napkins": 16, "Stoneware bowl": 14, "Water carafe": 22, "Salt cellar": 9.5 },
  Home: { "Wool blanket": 89, "Beeswax candle": 7.8, "Door mat": 27, "Hand broom": 12.4 },
};
const RATE = 390;

const initialData = {
  defaultLanguage: core.LanguageCode.en,
  defaultZone: "Americas",
  roles: [],
  taxRates: [{ name: "Standard tax", percentage: 20 }],
  shippingMethods: [{ name: "Standard delivery", price: RATE }],
  paymentMethods: [
    {
      name: "Invoice",
      handler: { code: "dummy-payment-handler", arguments: [{ name: "automaticSettle", value: "false" }] },
    },
  ],
  countries: [{ name: "United States", code: "US", zone: "Americas" }],
  collections: [],
};

async function prepare(config, { shop }) {
  const { app } = await core.bootstrapWorker(config);
  await shop.createTables();
  await populateInitialData(app, initialData);
  await app.get(core.ChannelService).update(await shop.context(), { id: 1, pricesIncludeTax: true }); // as shoppers read them
  const ctx = await shop.context();
  const [{ id: taxCategoryId }] = (await app.get(core.TaxCategoryService).findAll(ctx)).items;
  for (const [name, price] of Object.values(GOODS).flatMap((goods) => Object.entries(goods))) {
    await addProduct(app, ctx, { name, price, taxCategoryId });
  }
  await addPromotion(app, ctx);
  await setCalculator(app, ctx);
  await app.close();
}

async function addProduct(app, ctx, { name, price, taxCategoryId }) {
  const slug = name.toLowerCase().replaceAll(" ", "-");
  const words = { languageCode: core.LanguageCode.en, name, slug, description: `${name}, made to last.` };
  const product = await app.get(core.ProductService).create(ctx, { translations: [words] });
  const variant = { productId: product.id, sku: slug, price: Math.round(price * 100), taxCategoryId, stockOnHand: 200 };
  const translations = [{ languageCode: core.LanguageCode.en, name }];
  await app.get(core.ProductVariantService).create(ctx, [{ ...variant, trackInventory: "TRUE", translations }]);
}

async function addPromotion(app, ctx) {
  await app.get(core.PromotionService).createPromotion(ctx, {
    enabled: true,
    translations: [{ languageCode: core.LanguageCode.en, name: "Discount" }],
    conditions: [{ code: "store-is-connected", arguments: [] }],
    actions: [{ code: "discount-by-apps", arguments: [] }],
  });
}

async function setCalculator(app, ctx) {
  const methods = app.get(core.ShippingMethodService);
  const { items } = await methods.findAll(ctx);
  for (const { id } of items) {
    const calculator = { code: "rate-by-apps", arguments: [{ name: "rate", value: String(RATE) }] };
    await methods.update(ctx, { id, calculator, translations: [] });
  }
}

module.exports = { prepare };
