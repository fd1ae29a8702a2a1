import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, isAbsolute, join } from "node:path";

import { chromium, type Page } from "playwright-core";

/** Programs that are browsers, the best first: without windows, Chromium takes half of the processor time. */
const BROWSERS = ["chromium-headless-shell", "chromium", "chromium-browser"];

/** The browser that REPRISE_TEST_BROWSER names, else one of PATH; null without one. */
export function installedBrowser(): string | null {
  const { REPRISE_TEST_BROWSER: named, PATH: path = "" } = process.env;
  const folders = path.split(delimiter).filter(isAbsolute);
  const found = BROWSERS.flatMap((name) => folders.map((folder) => join(folder, name))).find(
    existsSync,
  );
  return named ?? found ?? null;
}

/** An origin on loopback that serves an empty page, and these modules. */
export async function startPages(modules: Readonly<Record<string, string>> = {}) {
  const server = createServer(({ url = "" }, response) => {
    const module = modules[url];
    response.setHeader("content-type", module === undefined ? "text/html" : "text/javascript");
    response.end(module ?? "<!doctype html>");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.dispose]: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Milliseconds for whatever a test waits for in a page: far more than it takes, for machines under load. */
export const PAGE_WAIT_MS = 240_000;

/** Opens pages in the installed browser; `failures` are their uncaught errors. */
export async function openBrowser() {
  const executablePath = installedBrowser() ?? "";
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const failures: string[] = [];
  return {
    failures,
    open: async (origin: string): Promise<Page> => {
      const page = await browser.newPage();
      page.setDefaultTimeout(PAGE_WAIT_MS);
      page.on("pageerror", ({ message }) => failures.push(message));
      await page.goto(origin);
      return page;
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

/** Megabytes of JavaScript that a page uses after a collection. */
export async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return usedSize / 2 ** 20;
}
