import { describe, expect, it } from "vitest";

import {
  accessibilityProblems,
  HAS_NO_BROWSER,
  keepPicture,
  startPage,
} from "../../helpers/page.ts";
import { PRICED_CALL, sessionWithCalls } from "../../helpers/sessions/model-calls.ts";

const TITLE = "<b>Rent</b> \u202e and ".repeat(6);

describe.skipIf(HAS_NO_BROWSER)("the page of costs (needs Chromium)", () => {
  it("[COST-30] [COST-31] shows what was spent by day, session, folder and model, with a bar in each row", async () => {
    await using world = await startPage();
    const { store } = world.service;
    const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
    const unknown = { ...PRICED_CALL, model: "openai:gpt-test", price_micros: null };
    const calls = [PRICED_CALL, { ...PRICED_CALL, price_micros: 2_469_000 }];
    const id = await sessionWithCalls(store, {
      calls,
      ts: ago(1),
      name: TITLE,
      repo_path: "/srv/a",
    });
    await sessionWithCalls(store, { calls: [PRICED_CALL, unknown], ts: ago(20), name: "Older" });

    const page = await world.openPage("/service");
    await page.getByRole("link", { name: "What it cost" }).click();
    const rows = page.locator(".costs tbody tr");
    await rows.first().waitFor();
    expect(await rows.allInnerTexts()).toEqual([
      expect.stringMatching(
        new RegExp(`^${ago(1).slice(0, 10)}\\s+2\\s+2K\\s+1.2K\\s+100\\s+\\$2.47$`),
      ),
      expect.stringMatching(/2K\s+1.2K\s+100\s+at least \$0.0012$/),
    ]);
    const bars = await page
      .locator(".costs-bar rect")
      .evaluateAll((all) => all.map((bar) => Number(bar.getAttribute("width"))));
    expect(bars).toEqual([100, expect.closeTo(0.05, 2)]);
    expect(await page.locator(".costs tfoot").innerText()).toMatch(/at least \$2.47$/);
    await keepPicture(page, "costs");

    await page.getByLabel("Since").selectOption("7 days ago");
    await expect.poll(() => rows.count()).toBe(1);
    expect(new URL(page.url()).search).toBe("?since=7");
    await page.getByLabel("By").selectOption("Session");
    const link = rows.getByRole("link");
    await link.waitFor();
    expect(await link.getAttribute("href")).toBe(`/sessions/${id}`);
    expect(await link.textContent()).toBe(TITLE);

    for (const colorScheme of ["light", "dark"] as const) {
      for (const by of ["session", "model", "folder"]) {
        const phone = await world.openPage(`/costs?by=${by}`, { width: 375, colorScheme });
        await phone.locator(".costs tbody tr").first().waitFor();
        expect(await accessibilityProblems(phone)).toEqual([]);
        const overflow = await phone.evaluate(
          () => document.documentElement.scrollWidth - innerWidth,
        );
        expect(overflow, by).toBeLessThanOrEqual(0);
        await keepPicture(phone, `costs-${by}-375-${colorScheme}`);
        await phone.context().close();
      }
    }
    const wide = await world.openPage("/costs?by=session", { colorScheme: "dark" });
    await wide.locator(".costs tbody tr").first().waitFor();
    await keepPicture(wide, "costs-session-1280-dark");
    world.expectNoProblems();
  });

  it("[COST-30] says that no model was asked", async () => {
    await using world = await startPage();
    const page = await world.openPage("/costs");
    await page.getByText("No model was asked.").waitFor();
    world.expectNoProblems();
  });
});
