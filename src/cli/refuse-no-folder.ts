import { stat } from "node:fs/promises";

import { wrongUsage } from "./wrong-usage.ts";

/** Error codes: `invalid_usage` if the path, which the person calls so, leads to no folder. */
export async function refuseNoFolder(path: string, name: string): Promise<void> {
  const found = await stat(path).catch(() => null);
  if (found?.isDirectory() !== true) {
    throw wrongUsage(`${name} does not exist; check its path.`);
  }
}
