export type Settings = Record<string, unknown>;

export interface Block {
  /** Ask for a height in CSS pixels; the store gives at most `MAX_HEIGHT`. */
  resize(height: number): void;
  stop(): void;
}

export interface AdminContext {
  businessId: string;
  businessName: string;
  role: "MERCHANT" | "DEVELOPER";
  locale: string;
  sessionToken: string;
}

export const MAX_HEIGHT: 400;

export function connectBlock(options: {
  platformOrigin: string;
  onSettings: (settings: Settings, blockId: string) => void;
}): Block;

export function followHeight(block: Block, element?: Element): () => void;

export function connectAdminPage(options: {
  platformOrigin: string;
  onInit: (context: AdminContext) => void;
}): () => void;
