import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { onFirstAsk } from "./on-first-ask.ts";
import { makeFolder } from "./temp.ts";

/** Where the tests ask for the page; set for their processes by `setup`. */
export const PAGE_VARIABLE = "REPRISE_TEST_PAGE_STARTER";

/** The folder of the web page, built once for the whole run from the sources of now. */
export function setup(): Promise<() => Promise<void>> {
  return onFirstAsk<string>(PAGE_VARIABLE, async () => {
    const { buildPage } = await import("../../build/page-bundle.ts");
    const folder = makeFolder();
    const page = join(folder.path, "page");
    await buildPage(fileURLToPath(new URL("../..", import.meta.url)), page);
    return { told: page, stop: () => Promise.resolve(folder[Symbol.dispose]()) };
  });
}
