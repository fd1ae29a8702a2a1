import { readFileSync } from "node:fs";

import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it } from "vitest";

import { phase, plan } from "../../helpers/artifacts/plans.ts";
import {
  accessibilityProblems,
  HAS_NO_BROWSER,
  keepPicture,
  settled,
  startPage,
} from "../../helpers/page.ts";

const WRONG = `runId: 3f2c8a54-6f0e-4f6b-9d43-0b1f3c1e7a90
phaseKey: planning
phases:
  - key: store-tags
    title: Store <img src=x onerror=alert(1)> tags
    role: assistant
    instructions: Add a table for tags, with tests.
  - key: review
    title: Review
    role: reviewer
    instructions: Review both changes for correctness.
    depends_on: [store-tag]
`;

/** As wide and as long as plans get. */
const LARGE = JSON.stringify(
  plan({
    phases: Array.from({ length: 127 }, (_, at) =>
      phase({
        key: `phase-${at}`,
        title: `Phase ${at} of a large plan`,
        depends_on: at < 9 ? [] : [`phase-${at - 9}`, `phase-${Math.floor(at / 2)}`],
      }),
    ),
  }),
  null,
  2,
);

describe.skipIf(HAS_NO_BROWSER)("the page of plans (needs Chromium)", () => {
  let world: Awaited<ReturnType<typeof startPage>>;
  let page: Page;
  beforeAll(async () => {
    world = await startPage();
  });
  afterAll(() => world[Symbol.asyncDispose]());
  beforeEach(async () => {
    page = await world.openPage("/plans");
    await page.getByLabel("Phase plan, as JSON or YAML").waitFor();
  });
  afterEach(async () => {
    await page.context().close();
    world.expectNoProblems();
    world.problems.length = 0;
  });

  const editor = () => page.getByLabel("Phase plan, as JSON or YAML");
  const state = () => page.locator(".plan-state");
  const selection = () =>
    editor().evaluate((field: HTMLTextAreaElement) =>
      field.value.slice(field.selectionStart, field.selectionEnd),
    );

  /** Takes a text as a file: typed, so many lines would take long. */
  const choose = (text: string) =>
    page
      .locator("input[type=file]")
      .setInputFiles({ name: "plan.json", mimeType: "", buffer: Buffer.from(text) });

  it("[PAGE-104] [PAGE-105] [PAGE-106] leads from a finding to its line, corrects it, and shows the plan", async () => {
    await editor().fill(WRONG);
    await state().getByText("1 error").waitFor();
    await keepPicture(page, "plan-findings");
    expect(await accessibilityProblems(page)).toEqual([]);
    const finding = page.getByRole("button", { name: /error line 12.*unknown_dependency/ });
    // by keyboard alone
    await finding.focus();
    await page.keyboard.press("Enter");
    expect(await selection()).toBe("store-tag]");
    expect(await editor().evaluate((field) => field === document.activeElement)).toBe(true);
    await page.getByRole("button", { name: "Use store-tags" }).click();
    await state().getByText("Valid").waitFor();
    expect(await editor().inputValue()).toBe(WRONG.replace("store-tag]", "store-tags]"));
    await page.getByRole("heading", { name: "Wave 2" }).waitFor();
    // what a plan says is text
    await page.getByText("Store <img src=x onerror=alert(1)> tags", { exact: true }).waitFor();
    expect(await page.locator(".chain li").allTextContents()).toEqual(["store-tags", "review"]);
  });

  it("[PAGE-107] shows the picture as an image, enlarges it by keys and buttons, and saves it", async () => {
    await page.getByRole("button", { name: "Show an example" }).click();
    const image = page.getByRole("img", { name: /^Picture of the plan: 4 phases in 3 waves/ });
    await image.waitFor();
    expect(await image.getAttribute("src")).toMatch(/^blob:/);
    const width = async (): Promise<number> => (await image.boundingBox())?.width ?? 0;
    const fitted = await settled(width);
    expect(fitted).toBeGreaterThan(0);
    await page.getByRole("button", { name: "Larger" }).click();
    expect(await width()).toBeGreaterThan(fitted);
    await page.locator(".picture-window").focus();
    await page.keyboard.press("0");
    expect(await width()).toBe(fitted);
    await page.keyboard.press("+");
    await page.keyboard.press("+");
    const twice = await width();
    expect(twice).toBeGreaterThan(fitted * 1.5);
    await page.keyboard.press("-");
    expect(await width()).toBeLessThan(twice);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download SVG" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("plan-3f2c8a54.svg");
    expect(readFileSync(await download.path(), "utf8")).toMatch(/^<svg [^]*Store tags[^]*<\/svg>$/);
    await keepPicture(page, "plan");
    expect(await accessibilityProblems(page)).toEqual([]);
  });

  it("[PAGE-108] takes a file, keeps the text across a reload, and gives back the text before", async () => {
    await editor().fill("notes: kept");
    const chosen = { name: "plan.json", mimeType: "application/json", buffer: Buffer.from(LARGE) };
    await page.locator("input[type=file]").setInputFiles(chosen);
    await state().getByText("127 phases in").waitFor();
    await page.reload();
    await state().getByText("127 phases in").waitFor();
    expect(await editor().inputValue()).toBe(LARGE);
    await page.getByText("plan.json").waitFor();
    await page.locator("input[type=file]").setInputFiles({
      ...chosen,
      name: "bytes.json",
      buffer: Buffer.from([0xff, 0xfe, 0x00]),
    });
    await page.getByText("The file is not text in UTF-8.").waitFor();
    expect(await editor().inputValue()).toBe(LARGE);
    await page.getByRole("button", { name: "Clear" }).click();
    expect(await editor().inputValue()).toBe("");
    await page.getByRole("button", { name: "Take back the text before" }).click();
    expect(await editor().inputValue()).toBe(LARGE);
  });

  it("[PAGE-109] a large plan is moved by dragging, and enlarged by the wheel around the pointer", async () => {
    await editor().fill(LARGE);
    await page.getByRole("img", { name: /^Picture of the plan: 127 phases/ }).waitFor();
    const view = page.locator(".picture-window");
    await view.scrollIntoViewIfNeeded();
    const box = (await view.boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.keyboard.down("Control");
    for (let step = 0; step < 12; step += 1) {
      await page.mouse.wheel(0, -100);
    }
    await page.keyboard.up("Control");
    const scrolled = () => view.evaluate(({ scrollLeft }) => scrollLeft);
    await expect.poll(scrolled).toBeGreaterThan(100);
    // the page itself keeps its size
    expect(await page.evaluate(() => visualViewport?.scale)).toBe(1);
    const before = await settled(scrolled);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 - 80, box.y + box.height / 2, { steps: 4 });
    await page.mouse.up();
    expect(await scrolled()).toBe(before + 80);
    await keepPicture(page, "plan-large");
  });

  it("[PAGE-109] shows a part of thousands of findings and phases, and more on request", async () => {
    const wrong = JSON.stringify({ phases: Array.from({ length: 12_000 }, () => 1) }, null, 1);
    await choose(wrong);
    await state().getByText("10,001 errors").waitFor();
    const findings = page.locator(".finding");
    expect(await findings.count()).toBe(100);
    await page.getByRole("button", { name: "Show 100 more of 10,001" }).click();
    await findings.nth(190).getByRole("button").click();
    expect(await selection()).toBe("1,");
    const phases = Array.from({ length: 5000 }, (_, at) =>
      phase({ key: `p${at}`, depends_on: at === 0 ? [] : [`p${at - 1}`] }),
    );
    await choose(JSON.stringify(plan({ phases })));
    await page.getByText("The plan is too large to draw here.").waitFor();
    expect(await page.locator(".phase").count()).toBe(300);
    await page.getByRole("button", { name: "Show 300 more of 5,000 phases" }).click();
    expect(await page.locator(".phase").count()).toBe(600);
  });

  it("[PAGE-104] says when the service does not answer, and checks again", async () => {
    await page.context().route("**/api/artifacts/plan", (route) => route.abort());
    await editor().fill("runId: 1");
    await page.getByText("The service did not answer").waitFor();
    await page.context().unroute("**/api/artifacts/plan");
    await page.getByRole("button", { name: "Check again" }).click();
    await state().getByText("Not valid").waitFor();
    // what the browser says about the call that was cut
    world.problems.length = 0;
  });

  it("[PAGE-110] works at 320 pixels and in the dark", async () => {
    const phone = await world.openPage("/plans", { width: 320, height: 700, colorScheme: "dark" });
    await phone.getByRole("button", { name: "Show an example" }).click();
    await phone.getByRole("heading", { name: "Wave 3" }).waitFor();
    const sideways = await phone.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(sideways).toBe(0);
    expect(await accessibilityProblems(phone)).toEqual([]);
    await keepPicture(phone, "plan-phone-dark");
    await phone.setViewportSize({ width: 1280, height: 800 });
    await keepPicture(phone, "plan-dark");
    await phone.context().close();
  });
});
