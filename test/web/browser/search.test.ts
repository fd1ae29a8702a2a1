import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { type Client, createClient } from "../../../src/client/client.ts";
import {
  accessibilityProblems,
  HAS_NO_BROWSER,
  keepPicture,
  type PageView,
  startPage,
} from "../../helpers/page.ts";

const TOKEN = "a-token";

describe.skipIf(HAS_NO_BROWSER)("the search of the page (needs Chromium)", () => {
  let world: Awaited<ReturnType<typeof startPage>>;
  let client: Client;
  let id = "";
  const open = (path: string, view: PageView = {}): Promise<Page> =>
    world.openPage(path, { token: TOKEN, ...view });
  const results = (page: Page) => page.getByRole("dialog").getByRole("listitem");

  beforeAll(async () => {
    world = await startPage({ token: TOKEN });
    client = createClient({ baseUrl: world.service.url, token: TOKEN });
    ({ id } = await client.createSession());
    for (let n = 1; n <= 60; n += 1) {
      await client.postMessage(id, n === 7 ? "the hidden Needle <b>of</b> April" : `message ${n}`);
    }
  });
  afterEach(() => world.expectNoProblems());
  afterAll(() => world[Symbol.asyncDispose]());

  it("[PAGE-149] finds messages from the list, and opens the session at the one that is chosen", async () => {
    const page = await open("/");
    await page.getByRole("button", { name: "Search messages" }).click();
    await page.getByRole("dialog").getByRole("searchbox").fill("needle");
    await results(page).first().waitFor();
    expect(await results(page).count()).toBe(1);
    expect(await results(page).locator("mark").allTextContents()).toEqual(["Needle"]);
    expect(await results(page).textContent()).toContain("the hidden Needle <b>of</b> April");
    await results(page).getByRole("link").click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(page.url()).toContain(`/sessions/${id}#m7`);
    await page.getByText("the hidden Needle").waitFor();
    await page.close();
  });

  it("[PAGE-149] opens with Ctrl-K on each page, in a session too, and shows more", async () => {
    const page = await open(`/sessions/${id}`);
    await page.getByText("message 60").waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.type('"message 5');
    await page.getByText("11 found.").waitFor();
    await page.getByRole("searchbox").fill("message");
    await page.getByText("20+ found.").waitFor();
    await page.getByRole("button", { name: "Show more" }).click();
    await page.getByText("40+ found.").waitFor();
    await page.getByRole("combobox").selectOption({ label: "Answers" });
    await page.getByText("Nothing was found.").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.close();
  });

  it("[PAGE-149] is not offered to a visitor with a link", async () => {
    const share = await client.createShare(id, {});
    const page = await world.openPage(share.path);
    await page.getByText("message 60").waitFor();
    await page.keyboard.press("Control+k");
    await page.getByText("message 60").click();
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.close();
  });

  it("[PAGE-149] opens with Ctrl-K before the page knows who reads", async () => {
    const page = await open("/");
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route("**/page/me", async (route) => {
      await released;
      await route.continue();
    });
    await page.reload();
    await page.getByRole("button", { name: "Search messages" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").getByRole("searchbox").waitFor();
    release();
    await page.close();
  });

  it("[PAGE-149] [PAGE-59] can be used at 320 pixels and in the dark", async () => {
    for (const view of [{ width: 320 }, { colorScheme: "dark" }] as const) {
      const page = await open("/", view);
      await page.getByRole("button", { name: "Search messages" }).waitFor();
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog").getByRole("searchbox").fill("needle");
      await results(page).first().waitFor();
      expect(await accessibilityProblems(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
      await keepPicture(page, `search-${"width" in view ? "phone" : "dark"}`);
      await page.close();
    }
  });
});
