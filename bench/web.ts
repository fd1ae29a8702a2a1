import { readdirSync, readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { type Browser, chromium, type Page } from "playwright-core";

import { buildPage } from "../build/page-bundle.ts";
import { heapOf, installedBrowser } from "../test/helpers/browser.ts";
import { besideOpencode } from "./opencode.ts";
import { type Bench, type Measurement, median, percentile } from "./measurement.ts";
import { makeSeeded, someIds } from "./seed.ts";
import { startProgram, temporaryFolder } from "./services.ts";

const MESSAGES = 100_000;
const SHORT = 100;
const ROUNDS = 5;
const SCROLL_SECONDS = 8;
const STREAM_SECONDS = 180;
const TOKENS = 1000;

/** The page in Chromium. The floor of times is a page of the same service that shows nothing. */
export const bench: Bench = {
  about: "the web page: size, first paint, 100,000 messages, scrolling, 1,000 tokens/s, memory",
  run: async ({ scale }) => {
    using folder = temporaryFolder();
    const page = `${folder.path}/page`;
    await buildPage(fileURLToPath(new URL("..", import.meta.url)), page);
    const database = `${folder.path}/web.db`;
    const ids = await seed(database, Math.max(2 * SHORT, Math.round(MESSAGES * scale)));
    await using service = await startProgram("web-service.ts", [
      "--database",
      database,
      "--page",
      page,
      "--talk",
      ids.talk,
      "--tokens",
      String(TOKENS),
    ]);
    const browser = await chromium.launch({
      executablePath: installedBrowser() ?? "chromium",
      args: ["--no-sandbox", "--enable-precise-memory-info"],
    });
    try {
      const stage = { browser, origin: `http://127.0.0.1:${service.port}`, ids, scale };
      return [
        ...(await besideOpencode(stage)),
        ...sizes(page),
        ...(await opening(stage)),
        ...(await scrolling(stage)),
        ...(await streaming(stage)),
      ];
    } finally {
      await browser.close();
    }
  },
};

interface Stage {
  readonly browser: Browser;
  readonly origin: string;
  readonly ids: Awaited<ReturnType<typeof seed>>;
  readonly scale: number;
}

/** Three sessions: a long one, a short one, and an empty one that gets tokens. */
async function seed(database: string, messages: number) {
  await makeSeeded(database, { sessions: 3, messages });
  const [long = "", short = "", talk = ""] = someIds(database, 3);
  const db = new DatabaseSync(database);
  db.exec("PRAGMA synchronous = OFF; BEGIN");
  db.prepare("DELETE FROM messages WHERE session_id = ? AND seq > ?").run(short, SHORT);
  db.prepare("UPDATE sessions SET last_seq = ? WHERE id = ?").run(SHORT, short);
  db.prepare("DELETE FROM messages WHERE session_id = ?").run(talk);
  db.prepare("UPDATE sessions SET last_seq = 0 WHERE id = ?").run(talk);
  db.prepare(
    `UPDATE messages SET content = '## Answer ' || seq || char(10, 10) || '- *one*' || char(10) || '- \`two\`'
       || char(10, 10) || 'Words of a paragraph. ' || iif(seq % 10 = 0, char(10) || '~~~ts' || char(10)
       || 'const a: number = ' || seq || ';' || char(10) || '~~~' || char(10), '')
       || substr('${"More words, so that rows differ. ".repeat(20)}', 1, (seq * 37) % 600)
     WHERE role = 'assistant'`,
  ).run();
  db.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
  return { long, short, talk, messages };
}

/** What the list loads, and what a session loads before and with its Markdown. */
function sizes(folder: string): Measurement[] {
  const files = readdirSync(`${folder}/assets`).filter((name) => /\.(?:js|css)$/.test(name));
  const reached = (...begins: readonly RegExp[]): Set<string> => {
    const found = new Set(files.filter((file) => begins.some((begin) => begin.test(file))));
    for (const file of found) {
      const text = readFileSync(`${folder}/assets/${file}`, "utf8");
      for (const [, name = ""] of text.matchAll(/(?:from|import)"\.\/([\w.-]+\.js)"/g)) {
        found.add(name);
      }
    }
    return found;
  };
  const line = (what: string, names: ReadonlySet<string>, most: number | null): Measurement => ({
    what: `${what}, script and style with gzip`,
    unit: "kB",
    ours:
      [...names]
        .map((name) => gzipSync(readFileSync(`${folder}/assets/${name}`)).length)
        .reduce((sum, size) => sum + size, 0) / 1000,
    floor: null,
    reach: most === null ? null : { at_most: most },
  });
  const shell = [/^page-.*\.js$/, /\.css$/];
  return [
    line("the list", reached(...shell), 60),
    line("a session without what it loads later", reached(...shell, /^Session-/), 60),
    line("a session with its Markdown", reached(...shell, /^Session-/, /^written-/), null),
  ];
}

async function opening(stage: Stage): Promise<Measurement[]> {
  const { ids, scale } = stage;
  const times: Record<"paint" | "nothing" | "long" | "short", number[]> = {
    paint: [],
    nothing: [],
    long: [],
    short: [],
  };
  for (let round = 0; round < Math.max(1, Math.round(ROUNDS * scale)); round += 1) {
    const nothing = await open(stage, "/livez", null);
    times.nothing.push(nothing.paintMs);
    await nothing.page.context().close();
    const long = await open(stage, `/sessions/${ids.long}`, ids.messages);
    times.paint.push(long.paintMs);
    times.long.push(long.shownMs);
    await long.page.context().close();
    const short = await open(stage, `/sessions/${ids.short}`, SHORT);
    times.short.push(short.shownMs);
    await short.page.context().close();
  }
  const count = ids.messages.toLocaleString("en");
  return [
    {
      what: `first paint of a session of ${count} messages, beside a page of plain text`,
      unit: "ms",
      ours: median(times.paint),
      floor: median(times.nothing),
      reach: null,
    },
    {
      what: `until the last of ${count} messages is shown, beside the last of ${SHORT}`,
      unit: "ms",
      ours: median(times.long),
      floor: median(times.short),
      reach: { at_most: 1.5 },
    },
  ];
}

/** Opens an address in an empty profile; milliseconds until something is painted, and until a message is shown. */
async function open({ browser, origin }: Stage, path: string, seq: number | null) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(origin + path);
  if (seq !== null) {
    await page.locator(`[data-seq="${seq}"]`).waitFor();
  }
  const shownMs = await page.evaluate(() => performance.now());
  const painted = await page.waitForFunction(
    () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
  );
  const paintMs = (await painted.jsonValue()) ?? 0;
  return { page, paintMs, shownMs };
}

async function scrolling(stage: Stage): Promise<Measurement[]> {
  const seconds = Math.max(0.5, SCROLL_SECONDS * stage.scale);
  const { page: empty } = await open(stage, "/livez", null);
  const floor = await frames(empty, seconds, null);
  await empty.context().close();
  const { ids } = stage;
  const { page } = await open(stage, `/sessions/${ids.long}`, ids.messages);
  const ours = await frames(page, seconds, -60);
  await page.context().close();
  const what = `frames while ${ids.messages.toLocaleString("en")} messages are scrolled by 3,600 px/s`;
  return framesLines(what, ours, floor);
}

/** Milliseconds between frames; each scrolls by so many pixels. */
function frames(page: Page, seconds: number, step: number | null): Promise<number[]> {
  return page.evaluate(
    async ({ until, by }) => {
      const found: number[] = [];
      const scroller = document.querySelector(".transcript-scroller");
      const begun = performance.now();
      for (let last = begun; last - begun < until;) {
        const now = await new Promise<number>((resolve) => requestAnimationFrame(resolve));
        found.push(now - last);
        last = now;
        if (by !== null) {
          scroller?.scrollBy({ top: by, behavior: "instant" });
        }
      }
      return found.slice(1);
    },
    { until: seconds * 1000, by: step },
  );
}

function framesLines(what: string, ours: number[], floor: number[]): Measurement[] {
  return [0.5, 0.95].map((part) => ({
    what: `${what}, p${part * 100}, beside an empty page`,
    unit: "ms",
    ours: percentile(ours, part),
    floor: percentile(floor, part),
    reach: part === 0.5 ? { at_most: 1.2 } : { at_most: 2.5 },
  }));
}

async function streaming(stage: Stage): Promise<Measurement[]> {
  const seconds = Math.max(1, STREAM_SECONDS * stage.scale);
  const { page: empty } = await open(stage, "/livez", null);
  const floor = await frames(empty, Math.min(10, seconds), null);
  const emptyHeap = await heapOf(empty);
  await empty.context().close();
  const { page } = await open(stage, `/sessions/${stage.ids.talk}`, null);
  await page.locator(".live .message").waitFor();
  const ours = await frames(page, Math.min(10, seconds / 2), null);
  const begun = await heapOf(page);
  await page.waitForTimeout(seconds * 1000);
  const after = await heapOf(page);
  const shown = await page.evaluate(() => document.querySelectorAll(".row").length);
  await page.context().close();
  const minutes = `${(seconds / 60).toFixed(1)} min of ${TOKENS.toLocaleString("en")} tokens/s`;
  return [
    ...framesLines(`frames while ${TOKENS.toLocaleString("en")} tokens/s arrive`, ours, floor),
    {
      what: `memory of the page after ${minutes}, beside that after the first 10 s`,
      unit: "MB",
      ours: after,
      floor: begun,
      reach: { at_most: 2 },
    },
    {
      what: "memory of the page then, beside an empty page",
      unit: "MB",
      ours: after,
      floor: emptyHeap,
      reach: null,
    },
    { what: "rows drawn then", unit: "rows", ours: shown, floor: null, reach: { at_most: 60 } },
  ];
}
