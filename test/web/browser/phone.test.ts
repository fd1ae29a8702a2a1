import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";

import { NO_COUNTS } from "../../../src/core/cost/model-calls.ts";
import { createFeed } from "../../../src/exchange/live/feed.ts";
import { storeCalls } from "../../../src/store/records/model-calls/store-calls.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { createDatabase } from "../../helpers/database.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import {
  accessibilityProblems,
  HAS_NO_BROWSER,
  keepPicture,
  startPage,
} from "../../helpers/page.ts";
import { outOfReach } from "../../helpers/page-reach.ts";
import { say, seeAll, startPageWorld } from "../../helpers/page-world.ts";
import { createTalk, storedMessage } from "../../helpers/talk.ts";

const TOKEN = "a-token";
const PHONE = { width: 375, height: 812 };
const LONG = "a_name_without_a_blank_".repeat(6);
const ANSWER = `It is **so**: ${LONG}

| name | explanation | milliseconds | difference |
|---|---|---|---|
| ${LONG} | 2 | 3 | 4 |

\`\`\`ts
const long = "${LONG}";
\`\`\`
`;

describe.skipIf(HAS_NO_BROWSER)("the page at 375 pixels", () => {
  /** Nothing is wider than the window, out of reach or wrong for axe-core, light and dark. */
  const check = async (page: Page, name: string): Promise<void> => {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const what = `${name}, ${colorScheme}`;
      expect.soft(await accessibilityProblems(page), what).toEqual([]);
      expect.soft(await outOfReach(page), what).toEqual([]);
      const width = await page.evaluate(() => {
        const { scrollWidth } = document.documentElement;
        const dialog = document.querySelector("dialog");
        return Math.max(
          scrollWidth - innerWidth,
          dialog === null ? 0 : dialog.scrollWidth - dialog.clientWidth,
        );
      });
      expect.soft(width, what).toBeLessThanOrEqual(0);
      await keepPicture(page, `phone-${name}-${colorScheme}`);
    }
    await page.emulateMedia({ colorScheme: "light" });
  };
  const dialog = (page: Page) => page.getByRole("dialog");
  const settings = async (page: Page): Promise<void> => {
    await page.locator(".menu summary").click();
    await page.locator(".menu").getByRole("button", { name: "Name and settings …" }).click();
    await dialog(page).getByRole("combobox", { name: "Model", exact: true }).waitFor();
  };
  const forkFrom = async (page: Page, seq: number): Promise<void> => {
    await page
      .locator(".row", { has: page.locator(`[data-seq="${seq}"]`) })
      .getByRole("button", { name: "Fork from here" })
      .click();
    await dialog(page).getByText("The fork is another session").waitFor();
  };
  const close = async (page: Page): Promise<void> => {
    await page.keyboard.press("Escape");
    await dialog(page).waitFor({ state: "detached" });
  };

  it("[PAGE-174] shows thoughts, costs, models, forks and search", async () => {
    await using database = await createDatabase();
    await using store = await openStoreAt(database.location);
    const feed = createFeed({ store });
    await using world = await startPage({ token: TOKEN, store, live: feed });
    const { id } = await store.write(createSession, { repo_path: `/home/${LONG}`, model: LONG });
    const talk = createTalk(store, feed, id);
    await talk.begin(`Why is ${LONG} so?`);
    const page = await world.openPage(`/sessions/${id}`, { token: TOKEN, ...PHONE });
    talk.hear({ type: "reasoning", message_id: "a", text: `Because of ${LONG}, I think.` });
    await page.getByText("Thinking…").click();
    await page.getByText("I think.").waitFor();
    await check(page, "thinking");
    await talk.store(storedMessage({ role: "assistant", content: ANSWER, message_id: "a" }));
    const call = { ...NO_COUNTS, model: LONG, price_table: "config", call: 1 } as const;
    const calls = [{ ...call, price_micros: 123_456, ended: "whole" as const }];
    await store.write((tx) => storeCalls(tx, { session_id: id, epoch: 1 }, { n: 1, calls }), null);
    await talk.end();
    await page.locator(".session-facts").getByText("$0.12").waitFor();
    await page.getByText(/^Thought for/).waitFor();
    await check(page, "thought");
    const heights = await page
      .locator("th")
      .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().height));
    expect(Math.max(...heights)).toBeLessThan(50);
    await forkFrom(page, 2);
    await check(page, "fork");
    await dialog(page).getByRole("button", { name: "Fork", exact: true }).click();
    await page.getByText("Forked from").waitFor();
    await check(page, "forked");
    await page.locator(".session-origin a").click();
    await page.waitForURL(`**/sessions/${id}#m2`);
    await page.locator(".session-facts").click();
    await page.getByRole("heading", { name: "Forks" }).waitFor();
    await check(page, "details");
    await page.locator(".session-facts").click();
    await settings(page);
    await dialog(page).getByRole("combobox", { name: "Model", exact: true }).fill(LONG);
    await check(page, "settings");
    await close(page);
    await page.goto(new URL("/", world.service.url).href);
    await page.locator(".row-state").getByText("fork", { exact: true }).waitFor();
    await check(page, "list");
    await page.getByRole("button", { name: "Search messages" }).click();
    await check(page, "search");
    await dialog(page).getByRole("searchbox").fill("name_without");
    await dialog(page).getByRole("listitem").first().waitFor();
    await check(page, "found");
    await page.goto(new URL("/costs?by=model", world.service.url).href);
    await page.locator(".costs tbody tr").first().waitFor();
    await check(page, "costs");
    world.expectNoProblems();
  });

  it("[PAGE-174] shows limits, models in the place of others, questions and files to undo", async () => {
    await using world = await startPageWorld();
    const { id, page } = await world.open(PHONE);
    await say(page, "limit");
    await page.getByRole("button", { name: /^Continue at \d/ }).waitFor();
    await check(page, "limited");
    await settings(page);
    await page
      .getByLabel("If the provider cannot answer")
      .selectOption("These models, in this order");
    await page.getByLabel("Model 1 in its place").fill("openai:spare");
    const [known] = await world.client.listModels();
    await page.getByRole("combobox", { name: "Model", exact: true }).fill(known?.name ?? "");
    await check(page, "models");
    await page.getByRole("combobox", { name: "Model", exact: true }).fill("");
    await dialog(page).getByRole("button", { name: "Save" }).click();
    await dialog(page).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Continue now" }).click();
    await page.getByText("Another model answers.").waitFor();
    await page.locator(".session-facts").click();
    await page.getByText("openai:spare answers in the place of openai:test").waitFor();
    await check(page, "fallback-answered");
    await page.locator(".session-facts").click();
    await say(page, `lines ${LONG}.txt`);
    await seeAll(page);
    await check(page, "question");
    await page.locator(".choices button:not([aria-disabled=true])", { hasText: "once" }).click();
    await page.getByText("It is done.").waitFor();
    await expect.poll(async () => (await world.client.listExchanges(id))[0]?.state).toBe("done");
    await forkFrom(page, 2);
    await dialog(page).getByText("1 file").first().waitFor();
    await check(page, "rewind");
    await close(page);
    await say(page, "ask");
    await page.getByRole("heading", { name: "Which colour?" }).waitFor();
    await check(page, "choice");
    world.expectNoProblems();
  });
});
