import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { announceNode } from "../../../src/store/records/exchanges/nodes.ts";
import {
  accessibilityProblems,
  HAS_NO_BROWSER,
  keepPicture,
  startPage,
} from "../../helpers/page.ts";
import { queue } from "../../helpers/queue.ts";

const TOKEN = "the-token";
const NODE = "00000000-0000-4000-8000-000000000001";

describe.skipIf(HAS_NO_BROWSER)("the page of the service (needs Chromium)", () => {
  let world: Awaited<ReturnType<typeof startPage>>;
  beforeAll(async () => {
    world = await startPage({ madeToken: TOKEN });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  /** A browser that is logged in. */
  async function ownersBrowser() {
    const context = await world.newContext();
    const page = await context.newPage();
    await page.goto(`${world.service.url}/service`);
    const status = await page.evaluate(async (token) => {
      const headers = { "x-reprise-page": "1", "content-type": "application/json" };
      const body = JSON.stringify({ token });
      return (await fetch("/page/login", { method: "POST", headers, body })).status;
    }, TOKEN);
    expect(status).toBe(200);
    await page.reload();
    return page;
  }

  it("[PAGE-113] [PAGE-114] says what waits, what nobody runs, and which command helps", async () => {
    const { service } = world;
    const created = await service.call<{ id: string }>("POST", "/api/sessions", {
      headers: { authorization: `Bearer ${TOKEN}` },
      body: { repo_path: "/srv/rent" },
    });
    const session = created.json.id;
    await queue(service.store, session, "Pay the rent");
    const page = await world.openPage("/service");
    await page.getByText("nobody runs it").waitFor();
    await page.getByText("reprise serve --port 0 --repos /srv/rent").waitFor();
    await page.getByText("No service runs exchanges now").waitFor();
    const check = page.locator(".checks li").first();
    await check.getByText("No service runs them: start one with reprise serve.").waitFor();
    expect(await check.locator(".badge").textContent()).toBe("warning");
    await page.getByText("1.2.3").waitFor();
    const measures = page.locator(".measure");
    await measures
      .filter({ hasText: "Memory" })
      .getByText(/\d+ MB/)
      .waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    // a node comes, and is seen without a reload
    const folders = { within: ["/srv"] };
    await service.store.write(announceNode, { id: NODE, agent: null, folders });
    await page.getByText("waits for its turn").waitFor();
    await page.getByText("alive").waitFor();
    // two samples, so that a rate is known and its line is drawn
    await measures.filter({ hasText: "Requests" }).getByText("/s").waitFor();
    await expect.poll(() => measures.first().locator("path").getAttribute("d")).toMatch(/^M.*L/);
    await keepPicture(page, "service");
    world.expectNoProblems();
    await page.context().close();
  });

  it("[PAGE-115] lists logins and links for the owner alone, and ends them", async () => {
    const { service } = world;
    const guest = await world.openPage("/service");
    await guest.getByRole("heading", { name: "Numbers" }).waitFor();
    expect(await guest.getByRole("heading", { name: "Who has access" }).count()).toBe(0);
    await guest.context().close();
    const session = await service.newSession();
    const headers = { authorization: `Bearer ${TOKEN}` };
    await service.call("POST", `/api/sessions/${session}/shares`, { headers, body: {} });
    const page = await ownersBrowser();
    const entries = page.locator(".access");
    const link = entries.filter({ hasText: "Link to a session" });
    await link.waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    // by keyboard alone
    await link.getByRole("button", { name: /^End/ }).focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "End this link?" });
    await dialog.waitFor();
    await dialog.getByRole("button", { name: "End it" }).press("Enter");
    await link.waitFor({ state: "detached" });
    await keepPicture(page, "service-access");
    // its own login ends, too: then it is a guest
    await entries.getByRole("button", { name: /^End/ }).click();
    await page.getByRole("button", { name: "End it" }).click();
    await page.getByRole("link", { name: "Log in" }).waitFor();
    await page.getByRole("heading", { name: "Who has access" }).waitFor({ state: "detached" });
    world.expectNoProblems();
    await page.context().close();
  });

  it("[PAGE-110] works at 320 pixels and in the dark", async () => {
    const view = { width: 320, height: 800, colorScheme: "dark" } as const;
    const phone = await world.openPage("/service", view);
    await phone.locator(".measure").filter({ hasText: "Memory" }).getByText(/MB/).waitFor();
    const sideways = await phone.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(sideways).toBe(0);
    expect(await accessibilityProblems(phone)).toEqual([]);
    await keepPicture(phone, "service-phone-dark");
    await phone.setViewportSize({ width: 1280, height: 900 });
    await keepPicture(phone, "service-dark");
    world.expectNoProblems();
    await phone.context().close();
  });
});
