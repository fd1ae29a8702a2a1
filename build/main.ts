import { fileURLToPath } from "node:url";

import { build } from "./build.ts";

/** `npm run build`: makes `dist/` from the sources. */
const root = fileURLToPath(new URL("..", import.meta.url));
await build(root, `${root}dist`);
