// SPDX-License-Identifier: GPL-3.0-or-later
// The plugin that connects a Vendure server to the platform.

const { Controller, Get, Inject, Query, Res } = require("@nestjs/common");
const { ModuleRef } = require("@nestjs/core");
const { Ctx, Logger, Order, Permission, PluginCommonModule, RequestContextService } = require("@vendure/core");
const { AdministratorService, TransactionalConnection, VendurePlugin } = require("@vendure/core");
const { commands } = require("../client/commands");
const { Hooks } = require("../client/hooks");
const { Outbox } = require("../client/outbox");
const { Platform } = require("../client/platform");
const { Sender } = require("../client/sender");
const { extensionsOf } = require("./checkout");
const { handlersOf } = require("./commands");
const { Rows } = require("./rows");
const { TRIGGERS } = require("./triggers");

/** The parts, put together. `options` are those of `PlatformPlugin.init`. */
class Shop {
  constructor(options) {
    this.options = options;
    this.platform = new Platform(options);
    this.rows = new Rows(this, options);
    this.hooks = new Hooks({ platform: this.platform, budgetMs: options.budgetMs });
    this.log = (message) => Logger.warn(message, "Platform");
  }

  /** A service of Vendure. */
  get = (token) => this.modules.get(token, { strict: false });
  context = () => this.get(RequestContextService).create({ apiType: "admin" });
  repository = (entity) => this.get(TransactionalConnection).rawConnection.getRepository(entity);

  /** The outbox, in the transaction of `ctx` if there is one. */
  outbox(ctx) {
    const connection = this.get(TransactionalConnection);
    const { manager } = ctx ? connection.getRepository(ctx, Order) : connection.rawConnection;
    return new Outbox((statement, values) => manager.query(statement, values));
  }

  /** Make the tables and triggers; for a migration. */
  createTables = () => this.outbox().create(TRIGGERS);

  /** The handler for the `commands` URL of the connection. */
  commands() {
    const { secret, store } = this.options;
    const transaction = async (work) => this.get(TransactionalConnection).withTransaction(await this.context(), work);
    const row = async (ctx, id) => (await this.rows.read("orders", [id], ctx)).get(id);
    const outbox = (ctx) => this.outbox(ctx);
    return commands({ secret, store, log: this.log, transaction, outbox, row, handlers: handlersOf(this) });
  }

  sender() {
    const { platform, rows, log, options } = this;
    return new Sender({ platform, rows, log, outbox: this.outbox(), record: options.record });
  }
}

/** What a person may do in the store, by a permission of Vendure's; the first that they have counts. */
const ROLES = [
  [Permission.SuperAdmin, "OWNER"],
  [Permission.UpdateSettings, "MANAGER"],
  [Permission.ReadOrder, "ORDERS"],
];

/** **Apps** of the shop's dashboard, and the connection's sign-in URL: `GET /platform/apps?next=`. */
class AppsController {
  async open(ctx, next, response) {
    const { shop } = PlatformPlugin;
    const role = ROLES.find(([permission]) => ctx.activeUserId && ctx.userHasPermissions([permission]))?.[1];
    const person = role && (await shop.get(AdministratorService).findOneByUserId(ctx, ctx.activeUserId));
    if (!person) return response.status(403).json({ message: "Sign in to the shop's dashboard first." });
    const name = `${person.firstName} ${person.lastName}`;
    const email = person.emailAddress.includes("@") ? person.emailAddress : undefined; // it may be any name
    const about = { person: { id: String(ctx.activeUserId), name, email }, role };
    response.redirect(303, await shop.platform.ticket(about, next));
  }
}
Controller("platform")(AppsController);
Get("apps")(AppsController.prototype, "open", Object.getOwnPropertyDescriptor(AppsController.prototype, "open"));
[Ctx(), Query("next"), Res()].forEach((parameter, index) => parameter(AppsController.prototype, "open", index));

class PlatformPlugin {
  /**
   * `url`, `key` and `secret` of the connection; `store`, the shop's own id of the store, and its `record`; `pages` and `statuses`
   * (`Rows`); `budgetMs`, how long a shopper waits for apps; `pushes`: whether this process pushes.
   */
  static init(options) {
    PlatformPlugin.shop = new Shop(options);
    return PlatformPlugin;
  }

  constructor(modules) {
    this.shop = PlatformPlugin.shop;
    this.shop.modules = modules;
  }

  onApplicationBootstrap() {
    if (this.shop.options.pushes) this.pushing = this.shop.sender().run(() => this.isStopped);
  }

  async beforeApplicationShutdown() {
    this.isStopped = true;
    await this.pushing;
  }
}
Inject(ModuleRef)(PlatformPlugin, undefined, 0);
VendurePlugin({
  imports: [PluginCommonModule],
  compatibility: "^3.0.0",
  controllers: [AppsController],
  configuration(config) {
    const { isConnected, discount, rate, confirmation } = extensionsOf(PlatformPlugin.shop);
    config.promotionOptions.promotionConditions.push(isConnected);
    config.promotionOptions.promotionActions.push(discount);
    config.shippingOptions.shippingCalculators.push(rate);
    config.orderOptions.process.push(confirmation);
    const handler = PlatformPlugin.shop.commands();
    config.apiOptions.middleware.push({ route: "/platform/commands", handler, beforeListen: true });
    return config;
  },
})(PlatformPlugin);

module.exports = { PlatformPlugin };
