import { spawn, spawnSync } from "node:child_process";
import { gzipSync } from "node:zlib";

import type { Browser } from "playwright-core";

import { type Measurement, median } from "./measurement.ts";
import { temporaryFolder } from "./services.ts";

/** The command, as PATH has it. */
const PROGRAM = "opencode";
const ROUNDS = 3;
/** Milliseconds without a request after which a page is loaded. */
const QUIET_MS = 1000;

interface Visit {
  /** Script and style with gzip. */
  readonly kilobytes: number;
  readonly paintMs: number;
}

/** The first visit of the list beside that of opencode's page; nothing if opencode is not installed. */
export async function besideOpencode({
  browser,
  origin,
  scale,
}: {
  readonly browser: Browser;
  readonly origin: string;
  readonly scale: number;
}): Promise<Measurement[]> {
  if (spawnSync(PROGRAM, ["--version"]).error !== undefined) {
    console.error("opencode is not installed: its page is left out");
    return [];
  }
  await using other = await startOpencode();
  const visits: { readonly ours: Visit[]; readonly theirs: Visit[] } = { ours: [], theirs: [] };
  for (let round = 0; round < Math.max(1, Math.round(ROUNDS * scale)); round += 1) {
    visits.theirs.push(await visit(browser, other.url));
    visits.ours.push(await visit(browser, origin));
  }
  const line = (what: string, unit: string, of: (visit: Visit) => number): Measurement => ({
    what: `${what}, beside opencode's`,
    unit,
    ours: median(visits.ours.map(of)),
    floor: median(visits.theirs.map(of)),
    reach: { at_most: 1 },
  });
  return [
    line("script and style of a first visit with gzip", "kB", ({ kilobytes }) => kilobytes),
    line("first paint of a first visit", "ms", ({ paintMs }) => paintMs),
  ];
}

/** opencode's service, in an empty home. */
async function startOpencode() {
  const home = temporaryFolder();
  const child = spawn(PROGRAM, ["serve", "--port", "0", "--hostname", "127.0.0.1"], {
    cwd: home.path,
    env: { PATH: process.env["PATH"], HOME: home.path },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let text = "";
  for await (const chunk of child.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? [];
    if (url !== undefined) {
      child.stdout.resume();
      return {
        url,
        [Symbol.asyncDispose]: async () => {
          const gone = new Promise((resolve) => child.once("exit", resolve));
          child.kill("SIGKILL");
          await gone;
          home[Symbol.dispose]();
        },
      };
    }
  }
  throw new Error("opencode ended before it listened");
}

async function visit(browser: Browser, url: string): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const sizes: Promise<number>[] = [];
  let last = performance.now();
  page.on("request", () => {
    last = performance.now();
  });
  page.on("response", (response) => {
    if (
      /^(?:text\/css|(?:text|application)\/javascript)/.test(
        response.headers()["content-type"] ?? "",
      )
    ) {
      sizes.push(
        response.body().then(
          (body) => gzipSync(body).length,
          () => 0,
        ),
      );
    }
  });
  await page.goto(url);
  const paint = await page.waitForFunction(
    () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
  );
  while (performance.now() - last < QUIET_MS) {
    await page.waitForTimeout(QUIET_MS / 4);
  }
  const kilobytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0) / 1000;
  const paintMs = (await paint.jsonValue()) ?? 0;
  await context.close();
  return { kilobytes, paintMs };
}
