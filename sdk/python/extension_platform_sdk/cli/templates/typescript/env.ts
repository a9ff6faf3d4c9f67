// Reads `.env`, which an editor may have saved with a byte order mark. A variable that the environment has already stays.

import { existsSync, readFileSync } from "node:fs";
import { parseEnv } from "node:util";

const file = new URL("../.env", import.meta.url); // this runs in the folder dist
const text = existsSync(file) ? readFileSync(file, "utf8").replace(/^\uFEFF/, "") : "";
for (const [name, value] of Object.entries(parseEnv(text))) process.env[name] ??= value;
