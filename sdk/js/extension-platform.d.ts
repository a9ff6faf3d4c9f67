export type Settings = Record<string, unknown>;

/** The look of the page around a frame. */
export interface Theme {
  mode: "light" | "dark";
  /** "#rrggbb", as the next two. */
  accent: string;
  text: string;
  background: string;
  /** Of corners, such as "8px". */
  radius: string;
  /** A `font-family`. */
  font: string;
}

export interface Block {
  /** Ask for a height in CSS pixels; the store gives at most `MAX_HEIGHT`. */
  resize(height: number): void;
  /**
   * Put texts into the shopper's cart, merged with what your app has there; null removes a key. At most 20 keys of 1 to 40 characters of
   * `a-z 0-9 _`, and texts of at most 500 characters. At most two calls a second count.
   */
  setAttributes(attributes: Record<string, string | null>): void;
  stop(): void;
}

export interface AdminContext {
  businessId: string;
  businessName: string;
  /** DEVELOPER on a sandbox, REVIEWER while the app is in review. */
  role: "MERCHANT" | "DEVELOPER" | "REVIEWER";
  locale: string;
  sessionToken: string;
  theme: Theme;
}

export const MAX_HEIGHT: 400;

export function connectBlock(options: {
  /** Of the merchant's page editor, such as "https://platform.example.com". */
  platformOrigin: string;
  /**
   * Of every store, such as "https://*.stores.example.com", where `*` stands for the store. Beside it those of connected stores, in a
   * list or separated by spaces.
   */
  storesOrigin: string | readonly string[];
  onSettings: (settings: Settings, blockId: string, theme: Theme) => void;
  /** For your server, which reads from it which store this is. Valid for a minute; not called where the store could make none. */
  onSession?: (sessionToken: string) => void;
  /** All that your app has in the cart, each time that some were kept. */
  onAttributes?: (attributes: Record<string, string>) => void;
}): Block;

/** Give this page the look of the store around it. */
export function wear(theme: Theme | undefined, element?: HTMLElement): void;

export function followHeight(block: Block, element?: Element): () => void;

export function connectAdminPage(options: {
  platformOrigin: string;
  onInit: (context: AdminContext) => void;
}): () => void;
