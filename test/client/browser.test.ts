import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { delimiter, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";
import { expect, it } from "vitest";

import { bundle } from "../../build/bundle.ts";
import { startTestServer } from "../helpers/server.ts";
import { temporaryFolder } from "../helpers/temp.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const token = "correct-horse";

/** What a page does with the client; its value is compared. */
const program = (baseUrl: string) => `(async () => {
  const { createClient, ClientError } = await import("/client.js");
  const client = createClient({ baseUrl: ${JSON.stringify(baseUrl)}, token: "${token}" });
  const { id } = await client.createSession({});
  await client.postMessage(id, "from a page");
  const read = [];
  for await (const { seq, content } of client.followSession(id)) {
    read.push(seq + " " + content);
    if (seq === 1) {
      await client.postMessage(id, "while it is followed");
    } else {
      await client.endSession(id);
    }
  }
  const { sessions } = await client.listSessions({ limit: 1 });
  const refused = await client.postMessage(id, "too late").catch((error) => error);
  return { read, title: sessions[0].title, refused: refused instanceof ClientError && refused.code };
})()`;

const executablePath = installedBrowser();

it.skipIf(executablePath === null)(
  "[PACK-13] the client works in a page of an allowed origin (needs Chromium)",
  async () => {
    const folder = temporaryFolder();
    const entries = { client: "src/entries/client.ts" };
    await bundle({ root: ROOT, entries, external: [], groups: [], folder });
    const pages = createServer((request, response) => {
      const isClient = request.url === "/client.js";
      response.setHeader("content-type", isClient ? "text/javascript" : "text/html");
      response.end(isClient ? readFileSync(join(folder, "client.js")) : "<!doctype html>");
    }).listen(0, "127.0.0.1");
    await once(pages, "listening");
    const origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
    await using service = await startTestServer({ token, allowOrigins: [origin] });
    const browser = await chromium.launch({
      executablePath: executablePath ?? "",
      args: ["--no-sandbox"],
    });
    try {
      const page = await browser.newPage();
      const failures: string[] = [];
      page.on("pageerror", ({ message }) => failures.push(message));
      await page.goto(origin);
      expect(await page.evaluate(program(service.url))).toEqual({
        read: ["1 from a page", "2 while it is followed"],
        title: "from a page",
        refused: "session_ended",
      });
      expect(failures).toEqual([]);
    } finally {
      await browser.close();
      pages.close();
    }
  },
);

/** The browser that REPRISE_TEST_BROWSER names, else one of PATH; null without one. */
function installedBrowser(): string | null {
  const { REPRISE_TEST_BROWSER: named, PATH: path = "" } = process.env;
  const found = path
    .split(delimiter)
    .flatMap((folder) => ["chromium", "chromium-browser"].map((name) => join(folder, name)))
    .find((file) => isAbsolute(file) && existsSync(file));
  return named ?? found ?? null;
}
