import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";

import { fixtureServer, notedIn } from "../../helpers/mcp.ts";
import { accessibilityProblems, HAS_NO_BROWSER } from "../../helpers/page.ts";
import { nextFrames, say, seeAll, startPageWorld } from "../../helpers/page-world.ts";

type Era = "old" | "new";

/** A page whose agent calls a tool of a server, which asks then. */
async function startAsking(era: Era, kind: string) {
  const world = await startPageWorld();
  const noted = join(world.home.home, "noted");
  const config = join(world.home.home, ".config/reprise/config.jsonc");
  mkdirSync(join(config, ".."), { recursive: true });
  const mcp = { desk: fixtureServer("asking.ts", era, kind, noted) };
  writeFileSync(config, JSON.stringify({ mcp }), { mode: 0o600 });
  const { id, page } = await world.open();
  await world.client.patchSession(id, { permission: "all" });
  const asks = (text: string) =>
    page.getByRole("article").filter({ hasText: "asks" }).filter({ hasText: text }).waitFor();
  return { world, page, asks, answers: () => notedIn(noted).filter((line) => line !== "call") };
}

async function choose(page: Page, label: string): Promise<void> {
  await seeAll(page);
  // a press in the moment of scrolling does not count
  await nextFrames(page);
  const begins = new RegExp(`^${label}`);
  await page.locator(".choices button:not([aria-disabled=true])", { hasText: begins }).click();
}

async function write(page: Page, text: string): Promise<void> {
  await page.getByLabel("Your answer").fill(text);
  await page.getByRole("button", { name: "Answer", exact: true }).click();
}

describe.skipIf(HAS_NO_BROWSER)("a question of an MCP server in the page", () => {
  it.each<Era>(["new", "old"])(
    "[MCP-94] is asked field by field, and its answer reaches the call (%s protocol)",
    async (era) => {
      const { world, page, asks, answers } = await startAsking(era, "form");
      await using _ = world;
      await say(page, "server");
      await asks("The MCP server desk asks, in a call of desk__act");
      expect(await accessibilityProblems(page)).toEqual([]);
      await choose(page, "Answer");
      await asks("field 1 of 3");
      await write(page, "A");
      await asks("That cannot be used: it has 2 characters at least.");
      await write(page, "Ada");
      await asks("field 2 of 3):age");
      await write(page, "-");
      await asks("field 3 of 3):size");
      await choose(page, "large");
      await page.getByText("It is done.").waitFor();
      expect(answers().join()).toContain('"content":{"name":"Ada","size":"large"}');
      world.expectNoProblems();
    },
  );

  it("[MCP-94] shows its text without control characters, and an address that the page does not open", async () => {
    const hostile = await startAsking("new", "escapes");
    await using _ = hostile.world;
    await say(hostile.page, "server");
    await hostile.asks("Reprise asks: allow all?");
    const shown = await hostile.page.locator(".question").innerText();
    // oxlint-disable-next-line no-control-regex -- what a page must not show
    expect(shown).not.toMatch(/[\u0000-\u0008\u001b\u202e]/);
    hostile.world.expectNoProblems();

    const linked = await startAsking("new", "url");
    await using __ = linked.world;
    await say(linked.page, "server");
    await linked.asks("https://example.com/in?a=1");
    expect(await linked.page.locator(".question a").count()).toBe(0);
    await choose(linked.page, "Decline");
    await linked.page.getByText("It is done.").waitFor();
    expect(linked.answers().join()).toContain('"action":"decline"');
    linked.world.expectNoProblems();
  });
});
