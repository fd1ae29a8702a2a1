import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { accessibilityProblems, HAS_NO_BROWSER, keepPicture } from "../../helpers/page.ts";
import { READ_TOKEN } from "../../helpers/page-service.ts";
import { nextFrames, type PageWorld, say, startPageModel } from "../../helpers/page-world.ts";

describe.skipIf(HAS_NO_BROWSER)("forks in the page", () => {
  let model: Awaited<ReturnType<typeof startPageModel>>;
  beforeAll(async () => {
    model = await startPageModel();
  });
  afterAll(() => model[Symbol.asyncDispose]());

  const row = (page: Page, seq: number) =>
    page.locator(".row", { has: page.locator(`[data-seq="${seq}"]`) });
  const dialog = (page: Page) => page.getByRole("dialog");
  const openFork = async (page: Page, seq: number): Promise<void> => {
    await row(page, seq).hover();
    await row(page, seq).getByRole("button", { name: "Fork from here" }).click();
    await dialog(page).getByText("The fork is another session").waitFor();
  };
  const press = (page: Page, name: string) =>
    dialog(page).getByRole("button", { name, exact: true }).click();
  /** Sends messages, each after the end of the exchange before it. */
  const exchange = async ({ client }: PageWorld, id: string, page: Page, messages: string[]) => {
    for (const [earlier, words] of messages.entries()) {
      await say(page, words);
      await expect
        .poll(async () => (await client.listExchanges(id)).map(({ state }) => state))
        .toEqual(Array.from({ length: earlier + 1 }, () => "done"));
    }
  };
  const newAddress = (page: Page, id: string) =>
    page.waitForURL(
      (url) => /\/sessions\/[0-9a-f-]{36}$/.test(url.pathname) && !url.href.includes(id),
    );

  it("[PAGE-171] [PAGE-172] [PAGE-182] forks at the end of an exchange, once, and shows origin and forks", async () => {
    await using world = await model.enter();
    const { id, page } = await world.open();
    await say(page, "first");
    await page.getByText("You said: first").waitFor();
    await say(page, "second");
    await page.getByText("You said: second").waitFor();
    await openFork(page, 2);
    expect(await accessibilityProblems(page)).toEqual([]);
    // asked again after an answer that was lost, there is one fork
    await world.kill();
    await press(page, "Fork");
    await dialog(page).getByText("The service did not answer").first().waitFor();
    await world.restart();
    await press(page, "Fork");
    await newAddress(page, id);
    await page.getByText("Forked from first, message 2").waitFor();
    await page.getByText("You said: first").waitFor();
    expect(await page.getByText("second").count()).toBe(0);
    const { sessions } = await world.client.listSessions({ forked_from: id });
    expect(sessions.map((fork) => page.url().includes(fork.id))).toEqual([true]);
    await keepPicture(page, "fork");
    await page.locator(".session-origin a").click();
    await page.waitForURL(`**/sessions/${id}#m2`);
    await page.locator(".session-facts").click();
    await page.getByRole("heading", { name: "Forks" }).waitFor();
    await page.getByText("from message 2,").waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    // no end of an exchange, or no right to write
    expect(await row(page, 1).getByText("Fork from here").count()).toBe(0);
    await world.client.queueExchange(id, "stall");
    await page.getByText("The answer begins").waitFor();
    await row(page, 4).getByText("Fork from here").waitFor();
    const { path } = await world.client.createShare(sessions[0]?.id ?? "");
    const visitor = await world.openPage(path);
    await visitor.getByText("You said: first").waitFor();
    const reader = await world.openAs(`/sessions/${id}`, {}, READ_TOKEN);
    await row(reader, 2).getByText("You said: first").waitFor();
    for (const other of [visitor, reader]) {
      await row(other, 2).hover();
      await nextFrames(other);
      expect(await other.getByText("Fork from here").count()).toBe(0);
    }
    await page.goto(`${world.url}/`);
    await page.locator(".row-state").getByText("fork", { exact: true }).waitFor();
    // but for the requests that got no answer
    const isLost = (problem: string): boolean => problem.includes("Failed to load resource");
    expect(world.problems.filter((problem) => !isLost(problem))).toEqual([]);
  });

  it("[PAGE-173] offers to undo the files that were changed after it, and either part can be declined", async () => {
    await using world = await model.enter();
    const { id, page } = await world.open();
    await world.client.patchSession(id, { permission: "all" });
    const [a, b] = ["a.txt", "b.txt"].map((name) => join(world.project, name));
    await exchange(world, id, page, ["hello", "write a.txt", "twice"]);
    await openFork(page, 2);
    await dialog(page).getByText("Undo what was changed after this message: 2 files").waitFor();
    await dialog(page).getByText("can be compared once exchange 3 is undone").waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await keepPicture(page, "rewind");
    // only the fork
    await press(page, "Fork");
    await newAddress(page, id);
    expect([a, b].map((path) => existsSync(path ?? ""))).toEqual([true, true]);
    await page.goBack();
    await openFork(page, 2);
    // only the files
    await dialog(page).getByLabel("Make a fork").uncheck();
    await dialog(page)
      .getByLabel(/^Undo what was changed/)
      .check();
    await press(page, "Undo 2 files");
    await dialog(page).getByText("2 files were undone.").waitFor();
    expect([a, b].map((path) => existsSync(path ?? ""))).toEqual([false, false]);
    await page.keyboard.press("Escape");
    expect((await world.client.listSessions({ forked_from: id })).sessions).toHaveLength(1);
    world.expectNoProblems();
  });

  it("[PAGE-171] [PAGE-173] undoes and forks together, with a file that is refused", async () => {
    await using world = await model.enter();
    const { id, page } = await world.open();
    await world.client.patchSession(id, { permission: "all" });
    const [a, b] = ["a.txt", "b.txt"].map((name) => join(world.project, name));
    await exchange(world, id, page, ["hello", "twice"]);
    writeFileSync(b ?? "", "changed by a person\n");
    await openFork(page, 2);
    await dialog(page).getByLabel("Undo what was changed after this message: 1 file").check();
    await press(page, "Undo 1 file and fork");
    await dialog(page).getByText("1 file was undone. The fork was made.").waitFor();
    expect(existsSync(a ?? "")).toBe(false);
    expect(readFileSync(b ?? "", "utf8")).toBe("changed by a person\n");
    await dialog(page).getByRole("link", { name: "Open the fork" }).click();
    await newAddress(page, id);
    await page.getByText("Forked from hello, message 2").waitFor();
    world.expectNoProblems();
  });
});
