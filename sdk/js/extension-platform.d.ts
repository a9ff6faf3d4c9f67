export type Settings = Record<string, unknown>;

export interface Block {
  /** Ask for a height in CSS pixels; the store gives at most `MAX_HEIGHT`. */
  resize(height: number): void;
  stop(): void;
}

export interface AdminContext {
  businessId: string;
  businessName: string;
  /** DEVELOPER on a sandbox, REVIEWER while the app is in review. */
  role: "MERCHANT" | "DEVELOPER" | "REVIEWER";
  locale: string;
  sessionToken: string;
}

export const MAX_HEIGHT: 400;

export function connectBlock(options: {
  /** Of the merchant's page editor, such as "https://platform.example.com". */
  platformOrigin: string;
  /** Of every store, such as "https://*.stores.example.com", where `*` stands for the store. */
  storesOrigin: string;
  onSettings: (settings: Settings, blockId: string) => void;
}): Block;

export function followHeight(block: Block, element?: Element): () => void;

export function connectAdminPage(options: {
  platformOrigin: string;
  onInit: (context: AdminContext) => void;
}): () => void;
