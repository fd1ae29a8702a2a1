import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import {
  accessibilityProblems,
  HAS_NO_BROWSER,
  keepPicture,
  type PageView,
} from "../../helpers/page.ts";
import {
  composerOf,
  focusedChoiceCounts,
  type PageWorld,
  say,
  seeAll,
  startPageModel,
} from "../../helpers/page-world.ts";
import { outOfReach } from "../../helpers/page-reach.ts";

describe.skipIf(HAS_NO_BROWSER)("the page for everybody", () => {
  let model: Awaited<ReturnType<typeof startPageModel>>;
  beforeAll(async () => {
    model = await startPageModel();
  });
  afterAll(() => model[Symbol.asyncDispose]());

  const VIEWS: readonly [string, PageView][] = [
    ["light", {}],
    ["dark", { colorScheme: "dark", width: 320, height: 640 }],
  ];

  /** What axe-core finds in a page, and whether it is wider than the window. */
  const check = async (page: Page, name: string): Promise<void> => {
    expect.soft(await accessibilityProblems(page), name).toEqual([]);
    const width = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect.soft(width, name).toBeLessThanOrEqual(0);
    expect.soft(await outOfReach(page), name).toEqual([]);
    await keepPicture(page, name);
  };

  const startWithQuestion = async (world: PageWorld): Promise<{ asked: string; done: string }> => {
    const { id: done, page } = await world.open();
    await say(page, "write note.txt");
    await seeAll(page);
    await page.locator(".choices button:not([aria-disabled=true])", { hasText: "once" }).click();
    await page.getByText("It is done.").waitFor();
    await say(page, "tasks");
    await page.getByText("has been done").waitFor();
    const { id: asked } = await world.client.createSession({ repo_path: world.project });
    // two diffs at once
    await world.client.queueExchange(asked, "twice");
    await page.goto(new URL(`/sessions/${asked}`, world.url).href);
    await page.locator(".choices button").first().waitFor();
    await page.context().close();
    return { asked, done };
  };

  it("[PAGE-120] axe-core finds nothing in any page and dialog, light, and dark at 320 pixels", async () => {
    await using world = await model.enter();
    const { asked, done } = await startWithQuestion(world);
    const share = await world.client.createShare(done);
    for (const [name, view] of VIEWS) {
      const login = await world.openPage("/", view);
      await login.getByLabel("Token").waitFor();
      await check(login, `login-${name}`);
      const shared = await world.openPage(share.path, view);
      await shared.getByText("It is done.").waitFor();
      await check(shared, `shared-${name}`);

      const page = await world.openAs("/", view);
      const to = async (path: string): Promise<void> => {
        await page.goto(new URL(path, world.url).href);
      };
      await page.locator(".session-row .state.waiting").waitFor();
      await check(page, `list-${name}`);
      await page.getByRole("button", { name: /New session/ }).click();
      await page.locator("dialog").waitFor();
      await check(page, `list-new-${name}`);
      await page.keyboard.press("Escape");
      await page.locator("dialog").waitFor({ state: "detached" });
      await page
        .getByRole("button", { name: /^Actions for/ })
        .first()
        .click();
      await page.locator("dialog").waitFor();

      await check(page, `list-actions-${name}`);

      await to(`/sessions/${asked}`);
      await page.locator(".choices").first().scrollIntoViewIfNeeded();
      await page.locator(".choices button:not([aria-disabled=true])").first().waitFor();
      await check(page, `question-${name}`);

      await to(`/sessions/${done}`);
      await page.getByText("It is done.").waitFor();
      await check(page, `session-${name}`);
      await page.locator(".session-facts").click();
      await page.getByText("Exchange 1: 1 change").click();
      await page.getByRole("button", { name: "Undo exchange 1 …" }).waitFor();
      await check(page, `session-open-${name}`);
      await page.getByRole("button", { name: "Undo exchange 1 …" }).click();
      await page.getByText("1 file can be undone.").waitFor();
      await check(page, `undo-${name}`);
      await page.keyboard.press("Escape");
      for (const [item, shown] of [
        ["Name and settings …", "Permissions"],
        ["Links to read it …", "Valid until"],
        ["End …", "It stays readable"],
        ["Delete …", "messages"],
      ] as const) {
        await page.locator(".menu summary").click();
        if (item === "End …") {
          await check(page, `menu-${name}`);
        }
        await page.locator(".menu").getByRole("button", { name: item }).click();
        await page.locator("dialog").getByText(shown).first().waitFor();
        await check(page, `${item.split(" ")[0]?.toLowerCase()}-${name}`);
        await page.keyboard.press("Escape");
      }

      await to("/plans");
      const example = page.getByRole("button", { name: /example/i }).first();
      // the part of the page for plans is loaded after it
      await example.waitFor();
      await check(page, `plans-empty-${name}`);
      await example.click();
      await page.locator("img").waitFor();
      await check(page, `plans-${name}`);

      await to("/service");
      await page.getByRole("heading", { name: "Nodes" }).waitFor();
      await page.getByText("Checks", { exact: false }).first().waitFor();
      await check(page, `service-${name}`);
      await page.context().close();
    }
    world.expectNoProblems();
  });

  it.each([
    ["at 320 pixels", { width: 320, height: 640 }],
    ["at 200 % zoom", { width: 640, height: 400 }],
  ] as const)("[PAGE-121] keys alone send, stop, answer, undo and log out %s", async (_, view) => {
    await using world = await model.enter();
    const { page } = await world.open(view);
    const focused = (): Promise<string> =>
      page.evaluate(
        () =>
          document.activeElement?.getAttribute("aria-label") ??
          document.activeElement?.id.replace(/-.*/, "-") ??
          "",
      );
    /** Presses Tab until the focus is on a control that matches; what holds others has their text too. */
    const tabTo = async (pattern: RegExp, key = "Tab"): Promise<void> => {
      for (let n = 0; n < 60; n += 1) {
        const name = await page.evaluate(() => {
          const { activeElement: focused } = document;
          return focused?.matches("a, button, summary") === true ? focused.textContent : "";
        });
        if (pattern.test(name)) {
          return;
        }
        await page.keyboard.press(key);
      }
      expect.fail(`no Tab reaches ${pattern}`);
    };
    await composerOf(page).focus();
    await page.keyboard.type("stall");
    await page.keyboard.press("Enter");
    await page.getByText("The answer begins").waitFor();
    expect(await focused()).toBe("composer");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Send" }).waitFor();
    expect(await focused()).toBe("composer");
    await page.keyboard.type("write note.txt");
    await page.keyboard.press("Enter");
    await page.locator(".choices").waitFor();
    expect(await focused()).toBe("composer");
    // what is asked comes before its answers, and may be out of view
    // its text ends with its key
    await tabTo(/^allow once1$/, "Shift+Tab");
    await page.keyboard.press("Shift+Tab");
    await page.locator(".question-body .diff:focus").waitFor();
    await page.keyboard.press("Home");
    await expect
      .poll(() => page.locator(".session").evaluate(({ scrollTop }) => scrollTop))
      .toBe(0);
    await page.keyboard.press("Tab");
    await focusedChoiceCounts(page);
    await page.keyboard.press("Enter");
    await page.getByText("It is done.").waitFor();
    await expect.poll(focused).toBe("composer");
    await tabTo(/tokens in/, "Shift+Tab");
    await page.keyboard.press("Enter");
    await page.getByText("Exchange 2: 1 change").waitFor();
    await tabTo(/^Exchange 2: 1 change/);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Undo exchange 2 …" }).waitFor();
    await tabTo(/^Undo exchange 2/);
    await page.keyboard.press("Enter");
    await page.getByText("1 file can be undone.").waitFor();
    await tabTo(/^Undo 1 file$/);
    await page.keyboard.press("Enter");
    await page.getByText("1 file was undone.").waitFor();
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
    await tabTo(/^Log out$/, "Shift+Tab");
    await page.keyboard.press("Enter");
    await page.getByLabel("Token").waitFor();
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.getAttribute("type")))
      .toBe("password");
    world.expectOnlyCutStreams();
  });

  it("[PAGE-122] an answer continues over a reload, and the page over a restart of the service", async () => {
    await using world = await model.enter();
    const { id, page } = await world.open();
    await say(page, "stall");
    await page.getByText("The answer begins").waitFor();
    await page.reload();
    await page.getByText("The answer begins").waitFor();
    await say(page, "taken back while it was away");
    await page.getByText("1 message in the queue").waitFor();
    await composerOf(page).fill("written while it was away");
    await world.kill();
    await page.locator(".connection").filter({ hasText: /\S/ }).waitFor();
    expect(await composerOf(page).inputValue()).toBe("written while it was away");
    // what was not loaded before is loaded once the service answers
    await page.locator(".session-facts").click();
    await page.getByText("Reload the page when it runs again").waitFor();
    await page.context().setOffline(true);
    await world.restart();
    await world.client.withdrawExchange(id, 2);
    await page.context().setOffline(false);
    await page.locator(".connection").filter({ hasText: /\S/ }).waitFor({ state: "detached" });
    await page.getByText("1 message in the queue").waitFor({ state: "detached" });
    await page.getByRole("row", { name: /^2 stopped/ }).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    await composerOf(page).focus();
    // the exchange that was cut begins again in the new process; the next message waits until it is stopped
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("You said: written while it was away").waitFor();
    // an answer is shown before its exchange ends
    await expect
      .poll(async () =>
        (await world.client.listExchanges(id)).map(({ n, state }) => `${n} ${state}`),
      )
      .toEqual(["3 done", "2 stopped", "1 stopped"]);
    await page.context().close();
  });

  it("[PAGE-123] eight tabs and a terminal on one session show the same, and a question once", async () => {
    await using world = await model.enter();
    const { id, page } = await world.open();
    const tabs = [page];
    while (tabs.length < 8) {
      tabs.push(await world.openPage(`/sessions/${id}`, { context: page.context() }));
    }
    const terminal = world.home.start(["follow", id]);
    await say(page, "write note.txt");
    for (const tab of tabs) {
      await tab.locator(".choices").waitFor();
    }
    await terminal.waitFor(/May the agent change note\.txt/);
    await tabs[7]?.bringToFront();
    await tabs[7]
      ?.locator(".choices button:not([aria-disabled=true])", { hasText: "allow once" })
      .click();
    for (const tab of tabs) {
      await tab.bringToFront();
      await tab.getByText("It is done.").waitFor();
      await expect.poll(() => tab.locator(".choices").count()).toBe(0);
    }
    await terminal.waitFor(/It is done\./);
    world.expectNoProblems();
    await page.context().close();
  });
});
