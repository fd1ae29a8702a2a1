import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";

import {
  accessibilityProblems,
  HAS_NO_BROWSER,
  keepPicture,
  type PageView,
} from "../../helpers/page.ts";
import { say, startPageWorld } from "../../helpers/page-world.ts";

type World = Awaited<ReturnType<typeof startPageWorld>>;

describe.skipIf(HAS_NO_BROWSER)("the page for everybody", () => {
  const VIEWS: readonly [string, PageView][] = [
    ["light", {}],
    ["dark", { colorScheme: "dark", width: 320, height: 640 }],
  ];

  /** What axe-core finds in a page, and whether it is wider than the window. */
  const check = async (page: Page, name: string): Promise<void> => {
    expect.soft(await accessibilityProblems(page), name).toEqual([]);
    const width = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect.soft(width, name).toBeLessThanOrEqual(0);
    await keepPicture(page, name);
  };

  const startWithQuestion = async (world: World): Promise<{ asked: string; done: string }> => {
    const { id: done, page } = await world.open();
    await say(page, "write note.txt");
    await page.locator(".choices").first().scrollIntoViewIfNeeded();
    await page.locator(".choices button:not([aria-disabled=true])").first().waitFor();
    await page.locator(".choices button", { hasText: "allow once" }).click();
    await page.getByText("It is done.").waitFor();
    const { id: asked } = await world.client.createSession({ repo_path: world.home.project });
    await world.client.queueExchange(asked, "write other.txt");
    await page.goto(new URL(`/sessions/${asked}`, world.url).href);
    await page.locator(".choices button").first().waitFor();
    await page.context().close();
    return { asked, done };
  };

  it("[PAGE-120] axe-core finds nothing in any page and dialog, light, and dark at 320 pixels", async () => {
    await using world = await startPageWorld();
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
        await check(page, `menu-${name}`);
        await page.locator(".menu").getByRole("button", { name: item }).click();
        await page.locator("dialog").getByText(shown).first().waitFor();
        await check(page, `${item.split(" ")[0]?.toLowerCase()}-${name}`);
        await page.keyboard.press("Escape");
      }

      await to("/plans");
      await check(page, `plans-empty-${name}`);
      await page
        .getByRole("button", { name: /example/i })
        .first()
        .click();
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
});
