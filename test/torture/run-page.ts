import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";

import { median } from "../../bench/measurement.ts";
import { makeDatabase, startProgram } from "../../bench/services.ts";
import { buildPage } from "../../build/page-bundle.ts";
import { openSqliteStore } from "../../src/store/engines/sqlite/open.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { storeOf } from "../../src/store/store-of.ts";
import { heapOf, installedBrowser } from "../helpers/browser.ts";
import type { TortureOptions } from "./long-tests.ts";
import { tortureFolder } from "./service.ts";

/** Times that the memory is measured, at equal distances. */
const SAMPLES = 30;
/** The last third beside the one before it: in the first, the page keeps more and more of what it has read. */
const MOST_GROWTH = 1.1;

/** A page in which 1,000 tokens/s arrive for many minutes: its memory stays what it is. */
export async function run({ size = 30 }: TortureOptions): Promise<void> {
  const executablePath = installedBrowser();
  if (executablePath === null) {
    console.log("page: no browser is installed, so nothing was measured");
    return;
  }
  using folder = tortureFolder();
  const page = join(folder.path, "page");
  await buildPage(fileURLToPath(new URL("../..", import.meta.url)), page);
  const database = await makeDatabase(join(folder.path, "reprise.db"));
  const talk = await makeSession(database);
  const args = ["--database", database, "--page", page, "--talk", talk, "--tokens", "1000"];
  await using service = await startProgram("web-service.ts", args);
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    const shown = await browser.newPage();
    await shown.goto(`http://127.0.0.1:${service.port}/sessions/${talk}`);
    await shown.locator(".live .message").waitFor();
    const megabytes: number[] = [];
    while (megabytes.length < SAMPLES) {
      await shown.waitForTimeout((size * 60_000) / SAMPLES);
      megabytes.push(await heapOf(shown));
    }
    const third = SAMPLES / 3;
    const before = median(megabytes.slice(third, 2 * third));
    const after = median(megabytes.slice(2 * third));
    const all = megabytes.map((each) => each.toFixed(1)).join(" ");
    console.log(
      `page: ${size} min of 1,000 tokens/s: ${before.toFixed(2)} MB in the second third, ${after.toFixed(2)} MB in the last (${all})`,
    );
    assert.ok(after <= MOST_GROWTH * before);
  } finally {
    await browser.close();
  }
}

async function makeSession(path: string): Promise<string> {
  const opened = await openSqliteStore({ path });
  const { id } = await storeOf(opened).write(createSession, {});
  await opened.close();
  return id;
}
