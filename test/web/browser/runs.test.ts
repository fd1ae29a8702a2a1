import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Phase } from "../../../src/artifacts/plans/phase-plan.ts";
import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import {
  accessibilityProblems,
  HAS_NO_BROWSER,
  keepPicture,
  startPage,
} from "../../helpers/page.ts";
import { createSandboxProbe } from "../../../src/workspace/sandbox/probe.ts";
import { storeRun } from "../../helpers/plan-bench.ts";
import { PAGE_TOKEN } from "../../helpers/page-service.ts";
import { seeAll } from "../../helpers/page-world.ts";
import { startRunService } from "../../helpers/run-page-world.ts";
import { type Step, text } from "../../helpers/scripted-provider.ts";

const hasSandbox = (await createSandboxProbe()()).bubblewrap !== null;

const phase = (
  key: string,
  title: string,
  depends_on: string[] = [],
  role = "assistant",
): Phase => ({
  key,
  title,
  role,
  instructions: `Do what the title says: ${title}.`,
  ...(depends_on.length === 0 ? {} : { depends_on }),
});

const PHASES = [
  phase("store-tags", "Store tags"),
  phase("list-tags", "List tags on a page of the shop", ["store-tags"]),
  phase("describe-tags", "Describe tags in the manual", ["store-tags"]),
  phase("review", "Review", ["list-tags", "describe-tags"], "reviewer"),
  phase("release", "Release", ["review"]),
];

const REFUSED: readonly Step[] = [{ kind: "status", status: 400 }];

describe.skipIf(HAS_NO_BROWSER)("the page of a run (needs Chromium)", () => {
  const now = { fails: true };
  let runs: Awaited<ReturnType<typeof startRunService>>;
  beforeAll(async () => {
    runs = await startRunService({
      "describe-tags": () => (now.fails ? REFUSED : [text("The tags are described.")]),
      stalls: () => [{ kind: "stall" }],
    });
  });
  afterAll(() => runs[Symbol.asyncDispose]());

  /** A world in which `describe-tags` fails for as long as `now` says. */
  const openWorld = (): ReturnType<typeof runs.enter> => {
    now.fails = true;
    return runs.enter();
  };

  /** The state of a phase in the picture, as a word. */
  const stateOf = (page: Page, title: string) =>
    page.locator(".phase-box", { hasText: title }).locator(".phase-word");

  const sideways = (page: Page) =>
    page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );

  it("[PAGE-150] [PAGE-151] [PAGE-152] [PAGE-153] draws the plan with the state of each phase, asks for approvals, and follows the run to its report", async () => {
    await using world = await openWorld();
    const run = await world.begin(PHASES, { approve: ["store-tags"], parallel: 2 });
    const page = await world.open(run);
    await stateOf(page, "Store tags").getByText("needs your yes").waitFor();
    expect(await stateOf(page, "Review").innerText()).toBe("waiting");
    await page.getByText("The run waits for you: store-tags.").waitFor();
    await keepPicture(page, "run-asks");
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(await page.getByLabel("Message to the agent").count()).toBe(0);
    await seeAll(page);
    await page.getByLabel("A note for the agent with the answer").fill("Use the old table.");
    await page.getByRole("button", { name: /^approve/i }).click();
    // without a reload
    await stateOf(page, "List tags").getByText("done").waitFor();
    await stateOf(page, "Describe tags").getByText("failed").waitFor();
    await stateOf(page, "Review").getByText("blocked").waitFor();
    await stateOf(page, "Release").getByText("blocked").waitFor();
    await page
      .getByText(
        "The run ended: describe-tags failed. Not begun, because of that: review, release.",
      )
      .waitFor();
    await page.getByText(/Approved for attempt 1 .*: Use the old table\./).waitFor();
    await page.locator(".run-phase-error code").getByText("model_failed").waitFor();
    await keepPicture(page, "run-failed");
    expect(await accessibilityProblems(page)).toEqual([]);
    now.fails = false;
    await page.getByRole("button", { name: "Try again: describe-tags" }).click();
    await page.getByText("5 of 5").waitFor();
    await page.getByText("All phases are done.").waitFor();
    await stateOf(page, "Release").getByText("done").waitFor();
    await page.locator(".phase-box", { hasText: "Describe tags" }).getByText("attempt 2").waitFor();
    expect(await page.locator(".phase-box", { hasText: "Release" }).innerText()).toMatch(/tok/);
    await page.getByRole("button", { name: "Show the report" }).click();
    await page.locator(".run-report-text").getByText("describe-tags").first().waitFor();
    await page.getByRole("button", { name: "Copy the report as Markdown" }).waitFor();
    await page.locator(".run-report").scrollIntoViewIfNeeded();
    await keepPicture(page, "run-report");
    world.expectNoProblems();
  });

  it("[PAGE-151] [PAGE-159] opens the session of a phase by click and by keyboard, and loads for it nothing of runs", async () => {
    await using world = await openWorld();
    const run = await world.begin(PHASES.slice(0, 1));
    const page = await world.open(run);
    await stateOf(page, "Store tags").getByText("done").waitFor();
    const link = page.locator("a.phase-box-inner");
    await link.click();
    await page.getByText("The work of store-tags is done.").waitFor();
    await page.getByRole("link", { name: "↑ Parent" }).click();
    await link.focus();
    await page.keyboard.press("Enter");
    await page.getByText("The work of store-tags is done.").waitFor();
    const loaded = (of: Page): Promise<boolean> =>
      of.evaluate(() =>
        performance.getEntriesByType("resource").some(({ name }) => /\/Run-[^/]+\.js$/.test(name)),
      );
    expect(await loaded(page)).toBe(true);
    const [phaseRun] = (await world.client.getPlanRun(run.session_id)).phases;
    const other = await world.open({ session_id: phaseRun?.session_id ?? "" });
    await other.getByText("The work of store-tags is done.").waitFor();
    expect(await loaded(other)).toBe(false);
    world.expectNoProblems();
  });

  it.skipIf(!hasSandbox)(
    "[PAGE-160] [PAGE-161] shows what each phase did last, and each check with its exit code and time",
    async () => {
      await using world = await openWorld();
      const checks = {
        phases: {
          "store-tags": { setup: [["true"]], checks: [["test", "-d", "."]] },
          "list-tags": { checks: [["/bin/sh", "-c", "exit 3"]] },
        },
      };
      const run = await world.begin(PHASES.slice(0, 2), {
        checks: { text: JSON.stringify(checks) },
        permission: "auto",
      });
      const page = await world.open(run, { width: 320, height: 640 });
      await stateOf(page, "List tags").getByText("failed").waitFor();
      const [stored, listed] = [
        page.locator(".run-phases > li").nth(0),
        page.locator(".run-phases > li").nth(1),
      ];
      await stored.getByText("Last message: The work of store-tags is done.").waitFor();
      await stored.getByText("2 checks passed in attempt 1").click();
      await stored.getByText(/^passed\s+test -d \. · exit code 0 · \d+\.\d s$/).waitFor();
      // open, because it did not pass
      await listed.getByText("A check did not pass in attempt 1, after 2 corrections").waitFor();
      await listed
        .getByText(/^failed\s+\/bin\/sh -c "exit 3" · exit code 3 · \d+\.\d s$/)
        .waitFor();
      expect(await sideways(page)).toBe(0);
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.locator(".run-phases").scrollIntoViewIfNeeded();
      await keepPicture(page, "run-checks");
      world.expectNoProblems();
    },
  );

  it("[PAGE-154] stops a run and continues it", async () => {
    await using world = await openWorld();
    const run = await world.begin([phase("stalls", "Stall"), phase("after", "After", ["stalls"])]);
    const page = await world.open(run);
    await stateOf(page, "Stall").getByText("running").waitFor();
    await page.getByText("stalls runs now.").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("The run was stopped.").waitFor();
    await stateOf(page, "Stall").getByText("interrupted").waitFor();
    await page.getByRole("button", { name: "Continue" }).click();
    await stateOf(page, "Stall").getByText("running").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("The run was stopped.").waitFor();
    world.expectNoProblems();
  });

  it("[PAGE-155] fits windows of 1280, 375 and 320 pixels, light and dark", async () => {
    await using world = await openWorld();
    const run = await world.begin(PHASES, { approve: ["list-tags"] });
    for (const { name, ...view } of [
      { name: "dark", width: 1280, height: 800, colorScheme: "dark" },
      { name: "phone", width: 375, height: 812, colorScheme: "light" },
      { name: "narrow", width: 320, height: 640, colorScheme: "dark" },
    ] as const) {
      const page = await world.open(run, view);
      await stateOf(page, "List tags").getByText("needs your yes").waitFor();
      await stateOf(page, "Describe tags").getByText("failed").waitFor();
      await page.locator(".question").waitFor();
      await keepPicture(page, `run-${name}`);
      expect.soft(await sideways(page), name).toBe(0);
      expect.soft(await accessibilityProblems(page), name).toEqual([]);
      await page.locator(".run-phases").scrollIntoViewIfNeeded();
      await keepPicture(page, `run-${name}-phases`);
      await page.context().close();
    }
    world.expectNoProblems();
  });

  it("[PAGE-158] marks a run in the list", async () => {
    await using world = await openWorld();
    const run = await world.begin(PHASES.slice(0, 1));
    const page = await world.openPage("/", { token: PAGE_TOKEN });
    const row = page.locator(".session-row", {
      has: page.locator(`a[href$="${run.session_id}"]`),
    });
    await row.locator(".mark").getByText("plan").waitFor();
    await keepPicture(page, "run-list");
    world.expectNoProblems();
  });

  it("[PAGE-156] shows a guest the messages, and that phases need a login", async () => {
    await using world = await startPage({ madeToken: PAGE_TOKEN });
    const { id } = await storeRun({ store: world.service.store, phases: PHASES });
    await world.service.store.write(appendUserMessage, { reference: id, content: "anybody?" });
    const page = await world.openPage(`/sessions/${id}`);
    await page.getByText("Log in to see what the phases of this run do.").waitFor();
    await page.getByText("anybody?").first().waitFor();
    expect(await page.locator(".phase-box").count()).toBe(0);
    world.expectNoProblems();
  });

  it("[PAGE-157] lists the messages that no model gets, and what was written in a phase as text", async () => {
    await using world = await startPage({ madeToken: PAGE_TOKEN });
    const hostile = "<img src=x onerror=alert(1)> \u202egnp";
    const phases = [phase("one", hostile), phase("two", "Two", ["one"])];
    const { id } = await storeRun({ store: world.service.store, phases });
    await world.service.store.write(appendUserMessage, { reference: id, content: hostile });
    const page = await world.openPage(`/sessions/${id}`, { token: PAGE_TOKEN });
    await page.getByRole("heading", { name: "Messages that no model gets" }).waitFor();
    await page.locator(".run-unread").getByText("<img src=x").waitFor();
    await page.locator(".phase-box").getByText("<img src=x").waitFor();
    expect(await page.locator("img[src=x]").count()).toBe(0);
    await keepPicture(page, "run-hostile");
    world.expectNoProblems();
  });
});
