import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { createFeed } from "../../../src/exchange/live/feed.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { createDatabase } from "../../helpers/database.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import {
  accessibilityProblems,
  HAS_NO_BROWSER,
  keepPicture,
  startPage,
} from "../../helpers/page.ts";
import { nextFrames } from "../../helpers/page-world.ts";
import { createTalk, storedMessage, type Talk } from "../../helpers/talk.ts";

const TOKEN = "the-token-of-tests";
const LINES = Array.from({ length: 60 }, (_, line) => `Line ${line} of the answer.`).join("\n\n");

async function startWorld() {
  const stack = new AsyncDisposableStack();
  const database = stack.use(await createDatabase());
  const store = stack.use(await openStoreAt(database.location));
  const feed = createFeed({ store });
  const world = stack.use(await startPage({ token: TOKEN, store, live: feed }));
  return { ...world, store, feed, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** Reads a file, runs a command that fails, and edits. */
async function work(talk: Talk): Promise<void> {
  const read = { id: "r", name: "read_file", args: { path: "src/total.ts" } };
  await talk.call("I look at it.", [read]);
  await talk.result(read, "its text");
  const run = { id: "c", name: "run_command", args: { line: "npm test" } };
  await talk.call("I run the tests.", [run]);
  await talk.result(run, "exit code 1 after 0.5 s\n\nit is red", "failed");
}

describe.skipIf(HAS_NO_BROWSER)("an exchange in the page (needs Chromium)", () => {
  let world: Awaited<ReturnType<typeof startWorld>>;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world[Symbol.asyncDispose]());
  afterEach(() => world.expectNoProblems());

  const begin = async (title: string): Promise<{ id: string; talk: Talk }> => {
    const { id } = await world.store.write(createSession, { repo_path: "/home/somebody/shop" });
    const talk = createTalk(world.store, world.feed, id);
    await talk.begin(title);
    await work(talk);
    return { id, talk };
  };
  const finish = async (talk: Talk, content = "It is *done*."): Promise<void> => {
    await talk.store(storedMessage({ role: "assistant", content }));
    await talk.end();
  };
  const head = (page: Page) => page.locator(".steps-head button");
  const call = (page: Page) => page.locator("summary", { hasText: "npm test" });
  const isWithin = (page: Page) =>
    page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);

  it("[PAGE-222] [PAGE-223] [PAGE-224] is open while it runs, closes at its end, and opens by click and by key", async () => {
    const { id, talk } = await begin("Fix the total");
    const page = await world.openPage(`/sessions/${id}`, { token: TOKEN });
    await head(page).getByText("Working").waitFor();
    expect(await head(page).getAttribute("aria-expanded")).toBe("true");
    await call(page).getByText("exit code 1").waitFor();
    await page.locator(".last-lines", { hasText: "it is red" }).waitFor();
    expect(await page.locator(".exchange-foot").count()).toBe(0);
    await finish(talk);
    await head(page).getByText("Worked").waitFor();
    await page.locator('.steps-head [aria-expanded="false"]').waitFor();
    expect(await head(page).innerText()).toMatch(/^Worked\b.*2 steps\s+1 failed$/s);
    expect(await call(page).count()).toBe(0);
    await page.locator(".message em").waitFor();
    const foot = page.getByRole("article", { name: /^End of the exchange/ });
    await foot.getByRole("button", { name: "Copy the answer" }).waitFor();
    await foot.getByRole("button", { name: "Fork from here" }).waitFor();
    await foot.getByText(/\d tokens/).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await keepPicture(page, "exchange-closed");
    await head(page).click();
    await call(page).waitFor();
    await head(page).press("Enter");
    await call(page).waitFor({ state: "detached" });
    // what was read again, or by a link to a step, is found
    await page.reload();
    await page.locator('.steps-head [aria-expanded="false"]').waitFor();
    await page.goto(page.url().replace(/#.*|$/, "#m5"));
    await call(page).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await keepPicture(page, "exchange-open");
    await page.context().close();
  });

  it("[PAGE-223] closes nothing and moves nothing for a reader who is not at the end", async () => {
    const { id, talk } = await begin(LINES);
    const page = await world.openPage(`/sessions/${id}`, { token: TOKEN });
    await call(page).waitFor();
    const scroller = page.locator(".transcript-scroller");
    await scroller.evaluate((box) => box.scrollBy({ top: -200, behavior: "instant" }));
    await nextFrames(page);
    const topOf = () => head(page).evaluate((button) => button.getBoundingClientRect().top);
    const before = await topOf();
    await finish(talk, LINES);
    await head(page).getByText("Worked").waitFor();
    await nextFrames(page);
    expect(await head(page).getAttribute("aria-expanded")).toBe("true");
    expect(Math.abs((await topOf()) - before)).toBeLessThan(2);
    await page.context().close();
  });

  it.each([
    { width: 390, height: 844, colorScheme: "light" },
    { width: 390, height: 844, colorScheme: "dark" },
    { width: 1440, height: 900, colorScheme: "dark" },
  ] as const)("[PAGE-222] [PAGE-225] is within its column ($width, $colorScheme)", async (view) => {
    const { id, talk } = await begin("Fix the total");
    await finish(talk);
    const page = await world.openPage(`/sessions/${id}`, { token: TOKEN, ...view });
    await page.locator(".message em").waitFor();
    await head(page).click();
    await call(page).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(await isWithin(page)).toBe(true);
    const widths = await page
      .locator(".row, .composer, .session-head")
      .evaluateAll((all) => all.map((each) => Math.round(each.getBoundingClientRect().width)));
    expect(Math.max(...widths)).toBeLessThanOrEqual(46 * 15);
    await page.context().close();
  });
});
