import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { type Client, createClient } from "../../../src/client/client.ts";
import { createFeed } from "../../../src/exchange/live/feed.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { createDatabase } from "../../helpers/database.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import {
  accessibilityProblems,
  HAS_NO_BROWSER,
  keepPicture,
  type PageView,
  startPage,
} from "../../helpers/page.ts";
import { focusedChoiceCounts, heightInView, nextFrames } from "../../helpers/page-world.ts";
import { createTalk } from "../../helpers/talk.ts";
import { askIn } from "../../helpers/waiting-session.ts";

const TOKEN = "the-token-of-tests";
const TITLE = "May the agent run this command (run_command)?";
const DANGEROUS = "rm -rf --no-preserve-root / # the last line";

/** A command of so many lines, of which the last is dangerous. */
const commandOf = (lines: number): string =>
  [
    TITLE,
    ...Array.from({ length: lines - 1 }, (_, n) => `echo "step ${n + 1} of the release"`),
    DANGEROUS,
  ].join("\n");

/** A service whose questions the tests put into its store, and a browser. */
async function startWorld() {
  const stack = new AsyncDisposableStack();
  const database = stack.use(await createDatabase());
  const store = stack.use(await openStoreAt(database.location));
  const feed = createFeed({ store });
  const world = stack.use(await startPage({ store, live: feed, token: TOKEN }));
  const client = createClient({ baseUrl: world.service.url, token: TOKEN });
  return {
    ...world,
    client,
    /** A session whose agent works. */
    begin: async (): Promise<string> => {
      const { id } = await store.write(createSession, { repo_path: "/home/somebody/shop" });
      await createTalk(store, feed, id).begin("Release it");
      return id;
    },
    ask: (id: string, text: string, more: Parameters<typeof askIn>[2] = {}): Promise<string> =>
      askIn(store, id, { kind: "permission", rules: ["run_command(ls)"], ...more, text }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const stateOf = async (client: Client, id: string): Promise<(string | null)[]> =>
  (await client.listQuestions(id, { answered: true })).map(({ state, answer }) => answer ?? state);

const yesOf = (page: Page, n = 0) =>
  page.locator(".question").nth(n).locator(".choices button", { hasText: "allow once" });

/** Waits until the answers of a question count at its present place, but for those that need its end in view. */
async function waitUntilArmed(page: Page, n = 0): Promise<void> {
  // the page knows a frame later that a question has moved
  await nextFrames(page);
  await page
    .locator(".question")
    .nth(n)
    .locator(".choices button:not([aria-disabled=true])", { hasText: "deny" })
    .waitFor();
}

/** Says yes in every way there is: keys on the focused button, a press, a click without one. */
async function tryAll(page: Page, n = 0): Promise<void> {
  const yes = yesOf(page, n);
  await yes.focus();
  for (const key of ["Enter", "Space", "y"]) {
    await waitUntilArmed(page, n);
    expect(await yes.getAttribute("aria-disabled")).toBe("true");
    await page.keyboard.press(key);
  }
  await waitUntilArmed(page, n);
  await yes.click({ force: true });
  await yes.evaluate((button: HTMLButtonElement) => button.click());
  expect(await yes.getAttribute("aria-disabled")).toBe("true");
}

/** By how much the window itself scrolls. Parts of the page scroll, and the window never. */
const beyondWindow = (page: Page) =>
  page.evaluate(() => {
    const { scrollWidth, scrollHeight } = document.documentElement;
    return { width: scrollWidth - innerWidth, height: scrollHeight - innerHeight };
  });

/** Brings the end of one part alone into view, until the page knows that it was seen. */
async function show(page: Page, part: string): Promise<void> {
  // the text is short, and comes after the title and before an effect that is higher than the window
  const isTitle = part === "h2";
  await page.locator(`.question ${part} .part-end`).evaluate((end, atEnd) => {
    end.scrollIntoView({ block: atEnd ? "end" : "start" });
  }, isTitle);
  await nextFrames(page);
}

/** Scrolls a text so that its end is so many pixels below what is in view. */
async function scrollTo(page: Page, below: number): Promise<void> {
  const body = page.locator(".question-body").first();
  await body.evaluate((element, left) => {
    element.scrollTop = element.scrollHeight - element.clientHeight - left;
  }, below);
  await page.locator(".choices").first().scrollIntoViewIfNeeded();
}

describe.skipIf(HAS_NO_BROWSER)("what a question needs before a yes counts", () => {
  let world: Awaited<ReturnType<typeof startWorld>>;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world[Symbol.asyncDispose]());
  afterEach(() => world.expectNoProblems());

  const open = (id: string, view: PageView): Promise<Page> =>
    world.openPage(`/sessions/${id}`, { ...view, token: TOKEN });

  const VIEWS: readonly (readonly [string, PageView])[] = [
    ["a desk", { width: 1280, height: 800 }],
    ["a low window", { width: 1280, height: 400 }],
    ["a phone", { width: 390, height: 844, isMobile: true }],
    ["a small phone", { width: 320, height: 568, isMobile: true }],
    ["a phone held sideways", { width: 844, height: 390, isMobile: true }],
    ["200 %", { width: 640, height: 400 }],
    ["400 %", { width: 320, height: 256 }],
    ["no motion", { width: 1280, height: 800, reducedMotion: "reduce" }],
  ];

  it.each(VIEWS)(
    "[PAGE-84] [PAGE-130] no yes counts before the last of 41 lines was in view: %s",
    async (name, view) => {
      const id = await world.begin();
      await world.ask(id, commandOf(41));
      const page = await open(id, view);
      await yesOf(page).waitFor({ state: "attached" });
      await keepPicture(page, `yes-open-${name.replaceAll(" ", "-")}`);
      expect(await beyondWindow(page)).toEqual({ width: 0, height: 0 });
      await tryAll(page);
      await keepPicture(page, `yes-tried-${name.replaceAll(" ", "-")}`);
      await page.locator(".question-body").scrollIntoViewIfNeeded();
      expect.soft(await heightInView(page.locator(".question-body"))).toBeGreaterThan(70);
      await scrollTo(page, 12);
      await keepPicture(page, `yes-almost-${name.replaceAll(" ", "-")}`);
      await tryAll(page);
      expect(await stateOf(world.client, id)).toEqual(["open"]);
      await page.getByText("Scroll through all of it to allow it.").waitFor();
      // by keys alone: to the text, to its end, to the answer
      await page.locator(".question-body pre").focus();
      await page.keyboard.press("End");
      await page.locator(".allow-hint").waitFor({ state: "detached" });
      await keepPicture(page, `yes-end-${name.replaceAll(" ", "-")}`);
      await page.keyboard.press("Tab");
      await focusedChoiceCounts(page);
      await page.keyboard.press("Enter");
      await expect.poll(() => stateOf(world.client, id)).toEqual(["allow once"]);
      await page.context().close();
    },
  );

  const LONG_NAME = `${"deep/".repeat(600)}../../../etc/passwd`;
  const PARTS = ["h2", ".question-body", ".question-effect"];

  it.each(PARTS)(
    "[PAGE-84] no yes counts if the last line of a part was never whole in view: %s",
    async (part) => {
      const id = await world.begin();
      const text = `May the agent change ${LONG_NAME} (edit_file)?\n+ one\n+ two\n+ three`;
      await world.ask(id, text, { rules: [LONG_NAME] });
      const page = await open(id, { width: 320, height: 256 });
      await yesOf(page).waitFor({ state: "attached" });
      for (const other of PARTS.filter((each) => each !== part)) {
        await show(page, other);
      }
      // an edge of it
      await page.locator(`.question ${part}`).evaluate((element) => {
        const session = element.closest(".session") ?? element;
        const { bottom } = element.getBoundingClientRect();
        session.scrollTop += bottom - session.getBoundingClientRect().top - 3;
      });
      await nextFrames(page);
      await tryAll(page);
      expect(await stateOf(world.client, id)).toEqual(["open"]);
      expect(await beyondWindow(page)).toEqual({ width: 0, height: 0 });
      await show(page, part);
      await page.locator(".allow-hint").waitFor({ state: "detached" });
      await page.context().close();
    },
  );

  it("[PAGE-83] [PAGE-84] a question that another one replaces with more lines is read again", async () => {
    const id = await world.begin();
    await world.ask(id, commandOf(2));
    const page = await open(id, { width: 1280, height: 800 });
    await page.locator(".choices button:not([aria-disabled=true])", { hasText: "once" }).waitFor();
    await world.ask(id, commandOf(41), { number: 2 });
    await page.getByText("step 40").waitFor({ state: "attached" });
    await tryAll(page);
    expect(await stateOf(world.client, id)).toEqual(["open"]);
    await page.context().close();
  });

  it("[PAGE-83] [PAGE-84] of several questions each needs its own end in view, and no key answers two", async () => {
    const id = await world.begin();
    for (const index of [0, 1, 2]) {
      await world.ask(id, commandOf(41), { index });
    }
    const page = await open(id, { width: 1280, height: 800 });
    await page.locator(".question").nth(2).waitFor({ state: "attached" });
    await scrollTo(page, 0);
    await yesOf(page).focus();
    await focusedChoiceCounts(page);
    await page.keyboard.down("Enter");
    await expect.poll(() => page.locator(".question").count()).toBe(2);
    // still held down, and pressed again
    await page.keyboard.down("Enter");
    await page.keyboard.up("Enter");
    await page.keyboard.press("Enter");
    await tryAll(page, 0);
    await tryAll(page, 1);
    const states = await stateOf(world.client, id);
    expect(states.filter((state) => state === "open")).toHaveLength(2);
    expect(states).toContain("allow once");
    await page.context().close();
  });

  it("[PAGE-83] [PAGE-84] a key that went down before the end was in view does not count when it comes up", async () => {
    const id = await world.begin();
    await world.ask(id, commandOf(41));
    const page = await open(id, { width: 1280, height: 800 });
    await waitUntilArmed(page);
    await yesOf(page).focus();
    await waitUntilArmed(page);
    await page.keyboard.down("Space");
    await scrollTo(page, 0);
    await focusedChoiceCounts(page);
    await page.keyboard.up("Space");
    expect(await yesOf(page).getAttribute("aria-disabled")).toBe("false");
    expect(await stateOf(world.client, id)).toEqual(["open"]);
    await page.keyboard.press("Space");
    await expect.poll(() => stateOf(world.client, id)).toEqual(["allow once"]);
    await page.context().close();
  });

  const VIEWS_OF_KEYS: readonly PageView[] = [
    { width: 1440, height: 900 },
    { width: 390, height: 844, isMobile: true, colorScheme: "dark" },
  ];

  it.each(VIEWS_OF_KEYS)(
    "[PAGE-213] a key answers once it counts: 1, 2 and n, and nowhere a letter is written (%o)",
    async (view) => {
      const id = await world.begin();
      const page = await open(id, view);
      await world.ask(id, commandOf(41));
      await waitUntilArmed(page);
      // the end was not in view
      await page.keyboard.press("1");
      await page.keyboard.press("2");
      await scrollTo(page, 0);
      await page.locator(".choices .primary[aria-disabled=false]").waitFor();
      expect(await accessibilityProblems(page)).toEqual([]);
      // letters, shortcuts of the browser, and a menu over it
      await page.getByLabel("A note for the agent with the answer").fill("");
      await page.keyboard.type("1n");
      await page.getByRole("heading", { name: TITLE }).focus();
      await page.keyboard.press("Control+1");
      await page.locator(".menu summary").press("Enter");
      await page.keyboard.press("n");
      await page.keyboard.press("Escape");
      await waitUntilArmed(page);
      expect(await stateOf(world.client, id)).toEqual(["open"]);
      // a press while the question moves does not count
      const press = async (key: string): Promise<ReadonlySet<unknown>> => {
        await page.keyboard.press(key);
        return new Set(await stateOf(world.client, id));
      };
      await expect.poll(() => press("2")).toEqual(new Set(["allow for this exchange"]));
      await world.ask(id, commandOf(2), { number: 2 });
      await waitUntilArmed(page);
      await page.locator("main").focus();
      await expect.poll(() => press("n")).toEqual(new Set(["allow for this exchange", "deny"]));
      await page.context().close();
    },
  );

  it.each(VIEWS_OF_KEYS)(
    "[PAGE-214] longer permissions follow More, and a no stays last (%o)",
    async (view) => {
      const id = await world.begin();
      const page = await open(id, view);
      await world.ask(id, commandOf(2));
      await waitUntilArmed(page);
      const names = () =>
        page.locator(".choices bdi").evaluateAll((all) => all.map((each) => each.textContent));
      const atFirst = await names();
      expect(atFirst.at(0)).toBe("allow once");
      expect(atFirst.at(-1)).toBe("deny");
      expect(atFirst).not.toContain("always allow in this session");
      expect(await page.locator(".choices .primary").count()).toBe(1);
      await page.getByRole("button", { name: "More", exact: true }).press("Enter");
      await page.locator(".choices").scrollIntoViewIfNeeded();
      await waitUntilArmed(page);
      expect((await names()).at(-1)).toBe("deny");
      expect(await accessibilityProblems(page)).toEqual([]);
      expect(await beyondWindow(page)).toEqual({ width: 0, height: 0 });
      await page
        .locator(".choices button:not([aria-disabled=true])", { hasText: "in this session" })
        .click();
      await expect.poll(() => stateOf(world.client, id)).toEqual(["always allow in this session"]);
      await page.context().close();
    },
  );

  it("[PAGE-215] of several questions a key means the one with the focus, and buttons lead to the others", async () => {
    const id = await world.begin();
    for (const index of [0, 1, 2]) {
      await world.ask(id, commandOf(2), { index });
    }
    const page = await open(id, { width: 1440, height: 900 });
    await waitUntilArmed(page, 0);
    await page.locator("main").focus();
    await page.keyboard.press("n");
    const next = page.getByRole("button", { name: "Next question" });
    await next.nth(0).press("Enter");
    await next.nth(1).press("Enter");
    expect(await next.nth(2).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Previous question" }).nth(2).press("Enter");
    await waitUntilArmed(page, 1);
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(await stateOf(world.client, id)).toEqual(["open", "open", "open"]);
    const meant = (await world.client.listQuestions(id))[1]?.id;
    await waitUntilArmed(page, 1);
    await page.keyboard.press("n");
    await expect
      .poll(async () => (await world.client.listQuestions(id)).map((each) => each.id))
      .not.toContain(meant);
    expect(await world.client.listQuestions(id)).toHaveLength(2);
    await page.context().close();
  });

  it("[PAGE-83] a press that was meant for a dialog does not answer the question below it", async () => {
    const id = await world.begin();
    const page = await open(id, { width: 1280, height: 800 });
    await page.locator(".menu summary").click();
    await page.locator(".menu").getByRole("button", { name: "Name and settings …" }).click();
    await page.locator("dialog").waitFor();
    await world.ask(id, commandOf(2));
    await waitUntilArmed(page);
    // the second press of a double click
    await page.locator("dialog").evaluate(async (dialog) => {
      dialog.dispatchEvent(new Event("cancel", { cancelable: true }));
      while (dialog.isConnected) {
        await Promise.resolve();
      }
      for (const button of document.querySelectorAll(".choices button")) {
        button.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
        button.dispatchEvent(new PointerEvent("click", { bubbles: true }));
      }
    });
    await waitUntilArmed(page);
    expect(await stateOf(world.client, id)).toEqual(["open"]);
    await page.context().close();
  });

  it("[PAGE-84] what is beyond the part that two fingers have enlarged was not in view", async () => {
    const id = await world.begin();
    const page = await open(id, { width: 390, height: 844, isMobile: true });
    await page.getByText("The agent is working").waitFor();
    const browser = await page.context().newCDPSession(page);
    await browser.send("Emulation.setPageScaleFactor", { pageScaleFactor: 4 });
    await page.waitForFunction(() => visualViewport?.scale === 4);
    await world.ask(id, commandOf(3));
    await waitUntilArmed(page);
    expect(await page.locator(".allow-hint").count()).toBe(1);
    await browser.send("Emulation.setPageScaleFactor", { pageScaleFactor: 1 });
    await page.locator(".allow-hint").waitFor({ state: "detached" });
    expect(await stateOf(world.client, id)).toEqual(["open"]);
    await page.context().close();
  });
});
