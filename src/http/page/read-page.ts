import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { systemCode } from "../../core/errors.ts";

/** The web page as it was built: its documents, and what they load by the names of the files in `assets/`. */
export interface Page {
  /** The document with the code of the list, and that with the code of a session; `{base}` is the path of the service. */
  readonly html: string;
  readonly sessionHtml: string;
  readonly assets: ReadonlyMap<string, Buffer>;
}

/**
 * Reads all of the page, so that its files fit together until the service stops, even if another version is installed
 * meanwhile. Null if it is not built. Throws what the file system says otherwise.
 */
export async function readPage(folder: string): Promise<Page | null> {
  try {
    const html = await readFile(join(folder, "index.html"), "utf8");
    const sessionHtml = await readFile(join(folder, "session.html"), "utf8");
    const names = await readdir(join(folder, "assets"));
    const assets = new Map<string, Buffer>();
    for (const name of names) {
      assets.set(name, await readFile(join(folder, "assets", name)));
    }
    return { html, sessionHtml, assets };
  } catch (error) {
    if (systemCode(error) === "ENOENT") {
      return null;
    }
    throw error;
  }
}
