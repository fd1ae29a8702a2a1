import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { type Client, createClient } from "../../../src/client/client.ts";
import { answerQuestion } from "../../../src/store/records/questions/answer.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import {
  accessibilityProblems,
  HAS_NO_BROWSER,
  keepPicture,
  type PageView,
  settled,
  startPage,
} from "../../helpers/page.ts";
import { testSize } from "../../helpers/size.ts";
import { waitingSession } from "../../helpers/waiting-session.ts";

const LATE_MODEL = {
  name: "late:model",
  is_default: true,
  is_usable: true,
  context_tokens: null,
  is_assumed: true,
  input_price: null,
  output_price: null,
  images: null,
  ends: null,
};

const TOKEN = "a-token";

describe.skipIf(HAS_NO_BROWSER)("the list of sessions (needs Chromium)", () => {
  let world: Awaited<ReturnType<typeof startPage>>;
  let client: Client;
  const open = (path: string, view: PageView = {}): Promise<Page> =>
    world.openPage(path, { token: TOKEN, ...view });

  const make = async (title: string, request = {}): Promise<string> => {
    const { id } = await client.createSession(request);
    await client.postMessage(id, title);
    return id;
  };
  const makeChild = async (parent: string, title: string): Promise<string> => {
    const { id } = await world.service.store.write(createSession, { parent_session_id: parent });
    await client.postMessage(id, title);
    return id;
  };

  beforeAll(async () => {
    world = await startPage({ token: TOKEN });
    client = createClient({ baseUrl: world.service.url, token: TOKEN });
  });
  afterEach(() => world.expectNoProblems());
  afterAll(() => world[Symbol.asyncDispose]());

  const row = (page: Page, title: string) =>
    page
      .getByRole("listitem")
      .filter({ has: page.getByRole("link", { name: title, exact: true }) });
  const titles = (page: Page): Promise<string[]> => page.locator(".row-title").allTextContents();
  const focused = (page: Page): Promise<string> =>
    page.evaluate(() => document.activeElement?.textContent ?? "");

  it("[PAGE-50] shows each session with what it does, its folder, model and tokens, and each change at once", async () => {
    const id = await make("Plan the move", {
      repo_path: "/home/ada/reprise",
      model_override: "openai:gpt-5",
    });
    const page = await open("/");
    await row(page, "Plan the move").waitFor();
    expect(await row(page, "Plan the move").textContent()).toMatch(
      /ready.*ada\/reprise.*openai:gpt-5.*\d tok/,
    );
    await make("Made elsewhere");
    await row(page, "Made elsewhere").waitFor();
    expect(await titles(page)).toEqual(["Made elsewhere", "Plan the move"]);
    await client.patchSession(id, { name: "The move" });
    await row(page, "The move").waitFor();
    await client.queueExchange(id, "go on");
    await row(page, "The move").getByText("queued").waitFor();
    await client.postMessage(id, "one more");
    await expect.poll(() => titles(page)).toEqual(["The move", "Made elsewhere"]);
    await client.stopExchange(id, 1);
    await client.endSession(id);
    await row(page, "The move").getByText("ended").waitFor();
    await client.deleteSession(id);
    await row(page, "The move").waitFor({ state: "detached" });
  });

  it("[PAGE-54] sessions that ask something are counted in the title and the icon of the tab", async () => {
    const page = await open("/");
    await page.getByRole("heading", { name: "Sessions" }).waitFor();
    const icon = (): Promise<string> =>
      page.evaluate(() => document.querySelector("link[rel=icon]")?.getAttribute("href") ?? "");
    await expect.poll(() => page.title()).toBe("Reprise");
    const before = await icon();
    const { id, ids } = await waitingSession(world.service.store, ["yes", "no"]);
    await row(page, "a question").getByText("asks you").waitFor();
    await expect.poll(() => page.title()).toBe("(1) Reprise");
    expect(await icon()).not.toBe(before);
    await keepPicture(page, "list-question");
    await world.service.store.write(answerQuestion, {
      reference: id,
      question: ids[0] ?? "",
      given: { choice: "1" },
      note: null,
      answered_by: "http",
    });
    await expect.poll(() => page.title()).toBe("Reprise");
    await expect.poll(icon).toBe(before);
    await client.deleteSession(id);
  });

  it("[PAGE-51] sub-agents are below the session that they work for, once it is opened", async () => {
    const parent = await make("A parent");
    await makeChild(await makeChild(parent, "a child"), "a grandchild");
    const page = await open("/");
    await row(page, "A parent").waitFor();
    expect(await titles(page)).not.toContain("a child");
    await page.getByRole("button", { name: "2 sub-agents of A parent" }).click();
    await page.getByRole("button", { name: "1 sub-agent of a child" }).click();
    await row(page, "a grandchild").waitFor();
    await page.getByRole("button", { name: "2 sub-agents of A parent" }).click();
    await row(page, "a child").waitFor({ state: "detached" });
    await client.deleteSession(parent);
  });

  it("[PAGE-52] filters are in the address, and survive a reload and the way back", async () => {
    await make("Rent of May", { model_override: "anthropic:opus" });
    await client.patchSession(await make("Rent of April"), { archived: true });
    const page = await open("/");
    await row(page, "Rent of May").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("rent");
    await expect.poll(() => titles(page)).toEqual(["Rent of May"]);
    await page.getByLabel("Archive").selectOption("all");
    await row(page, "Rent of April").waitFor();
    expect(new URL(page.url()).search).toBe("?title=rent&archived=all");
    await page.reload();
    await expect.poll(() => titles(page)).toEqual(["Rent of April", "Rent of May"]);
    await page.getByLabel("Model").selectOption("anthropic:opus");
    await expect.poll(() => titles(page)).toEqual(["Rent of May"]);
    await row(page, "Rent of May").getByRole("link").click();
    await page.getByRole("heading", { name: "Rent of May" }).waitFor();
    await page.goBack();
    await expect.poll(() => titles(page)).toEqual(["Rent of May"]);
    await page.getByLabel("State").selectOption("ended");
    await page.getByText("No session is like this.").waitFor();
    await page.getByRole("button", { name: "Clear" }).click();
    await row(page, "Made elsewhere").waitFor();
    expect(await page.getByRole("searchbox").inputValue()).toBe("");
    expect(new URL(page.url()).search).toBe("");
  });

  it("[PAGE-55] a session is renamed, archived and deleted by keyboard, and the focus stays in the list", async () => {
    await make("Beside it");
    const parent = await make("To be changed");
    await makeChild(parent, "its child");
    const page = await open("/", { width: 320, height: 640 });
    await row(page, "To be changed").waitFor();
    const act = async (): Promise<void> => {
      await page.getByRole("link", { name: /^(To be changed|Another name)$/ }).focus();
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").waitFor();
    };
    await act();
    await page.keyboard.type("Another name");
    await page.keyboard.press("Enter");
    await row(page, "Another name").waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect((await client.getSession(parent)).name).toBe("Another name");

    await act();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await act();
    await page.getByRole("button", { name: "Delete …" }).focus();
    await page.keyboard.press("Enter");
    await page
      .getByText("The session, its 1 sub-agent and 2 messages are deleted for good.")
      .waitFor();
    // the first answer changes nothing
    expect(await focused(page)).toBe("Keep it");
    await keepPicture(page, "list-delete");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await row(page, "Another name").waitFor({ state: "detached" });
    const [first = "none"] = await titles(page);
    await expect.poll(() => focused(page)).toBe(first);
    await expect(client.getSession(parent)).rejects.toThrow("No session");

    await row(page, "Beside it").getByRole("button", { name: "Actions" }).click();
    await page.getByRole("button", { name: "Archive" }).click();
    await row(page, "Beside it").waitFor({ state: "detached" });
  });

  it("[PAGE-180] a session is pinned and unpinned in the list and in its menu, and is first", async () => {
    const old = await make("Pinned here");
    await make("Newer than that");
    const page = await open("/");
    const change = async (name: string): Promise<void> => {
      await row(page, "Pinned here").getByRole("button", { name: "Actions" }).click();
      await page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
    };
    await change("Pin");
    await row(page, "Pinned here").getByText("pinned", { exact: true }).waitFor();
    await expect.poll(async () => (await titles(page))[0]).toBe("Pinned here");
    await keepPicture(page, "list-pinned");
    await row(page, "Pinned here").getByRole("link").click();
    await page.locator(".session-title").getByText("pinned", { exact: true }).waitFor();
    await page.locator(".menu summary").click();
    await page.locator(".menu").getByRole("button", { name: "Unpin" }).click();
    await expect.poll(async () => (await client.getSession(old)).pinned_at).toBeNull();
    await page.locator(".session-title .mark").waitFor({ state: "detached" });
    await page.goBack();
    await expect.poll(async () => (await titles(page))[0]).not.toBe("Pinned here");
    await change("Pin");
    await change("Unpin");
    expect((await client.getSession(old)).pinned_at).toBeNull();
  });

  it("[PAGE-55] what the service refuses is shown in the dialog, and nothing is changed", async () => {
    const { id } = await waitingSession(world.service.store, null);
    const page = await open("/");
    await row(page, "a question").getByRole("button", { name: "Actions" }).click();
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("\u0000");
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByRole("alert").waitFor();
    expect(await titles(page)).toContain("a question");
    await client.deleteSession(id);
  });

  it("[PAGE-56] a new session is made with a folder, and opened", async () => {
    const page = await open("/");
    await page.getByRole("button", { name: "New session" }).click();
    await page.getByRole("dialog").getByLabel("Folder").fill("/home/ada/new");
    await page.getByRole("button", { name: "Create" }).click();
    // no node runs here
    await page.getByText("No running service works in this folder").waitFor();
    await page.getByRole("button", { name: "Open the session" }).click();
    await page.waitForURL(/\/sessions\/[0-9a-f-]{36}$/);
    const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    expect(await client.getSession(id)).toMatchObject({ repo_path: "/home/ada/new" });
  });

  it("[PAGE-56] a folder that is typed before the models are known is kept", async () => {
    const page = await open("/");
    const { promise: isTyped, resolve: release } = Promise.withResolvers<unknown>();
    await page.route("**/api/models", async (route) => {
      await isTyped;
      await route.fulfill({ json: [LATE_MODEL] });
    });
    await page.getByRole("button", { name: "New session" }).click();
    const folder = page.getByRole("dialog").getByLabel("Folder");
    await folder.pressSequentially("/home/ada/ty");
    release(null);
    await page.locator("option", { hasText: "late:model" }).waitFor({ state: "attached" });
    expect(await folder.inputValue()).toBe("/home/ada/ty");
    await folder.pressSequentially("ped");
    // without leaving the field
    await folder.press("Enter");
    await page.getByRole("button", { name: "Open the session" }).click();
    await page.waitForURL(/\/sessions\/[0-9a-f-]{36}$/);
    const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    expect(await client.getSession(id)).toMatchObject({ repo_path: "/home/ada/typed" });
  });

  it("[PAGE-58] a guest is offered what needs no login, and a visitor nothing", async () => {
    await using open = await startPage({ madeToken: TOKEN });
    await open.service.post(await open.service.newSession(), "Read by everybody");
    const page = await open.openPage("/");
    await page.getByRole("button", { name: "New session" }).waitFor();
    await page.getByRole("button", { name: "Actions for Read by everybody" }).click();
    await page.getByText("To rename, pin, archive and delete sessions, log in").waitFor();
    expect(await page.getByRole("button", { name: "Delete …" }).count()).toBe(0);
    open.expectNoProblems();
  });

  it("[PAGE-57] [PAGE-52] any number of sessions is read as it is scrolled, keys reach each, and the way back its place", async () => {
    const count = testSize("page-list");
    await world.service.store.write(async (tx) => {
      for (let index = 0; index < count; index += 1) {
        await createSession(tx, { model: `model ${index % 7}` });
      }
    }, null);
    const page = await open("/");
    await page.locator(".row-title").first().waitFor();
    const made = (): Promise<number> => page.locator(".session-row").count();
    expect(await made()).toBeLessThan(80);
    const link = page.locator(".row-title").first();
    await link.focus();
    for (const key of ["ArrowDown", "ArrowDown", "ArrowUp"]) {
      const before = await page.evaluate(() => document.activeElement?.getAttribute("href"));
      await page.keyboard.press(key);
      await expect
        .poll(() => page.evaluate(() => document.activeElement?.getAttribute("href")))
        .not.toBe(before);
    }
    const place = (): Promise<string | undefined> =>
      page.evaluate(() => document.activeElement?.closest("li")?.ariaPosInSet ?? undefined);
    expect(await place()).toBe("2");
    const { length } = await everySession();
    // each step reads more, until the last row is the last session
    await expect
      .poll(async () => {
        await page.keyboard.press("End");
        return place();
      })
      .toBe(String(length));
    expect(await made()).toBeLessThan(120);
    await page.keyboard.press("Home");
    await expect.poll(place).toBe("1");
    const top = (): Promise<number> => page.evaluate(() => Math.round(scrollY));
    await expect.poll(top).toBeLessThan(400);
    await keepPicture(page, "list");
    await page.keyboard.press("End");
    await expect.poll(place).toBe(String(length));
    const left = await settled(top);
    expect(left).toBeGreaterThan(400);
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/sessions\//);
    await page.goBack();
    await expect.poll(top).toBe(left);
    await page.reload();
    await expect.poll(top).toBe(left);

    async function everySession(): Promise<readonly unknown[]> {
      const all: unknown[] = [];
      let cursor: string | null = null;
      do {
        const next = await client.listSessions({
          archived: false,
          roots: true,
          limit: 200,
          ...(cursor === null ? {} : { cursor }),
        });
        all.push(...next.sessions);
        cursor = next.next;
      } while (cursor !== null);
      return all;
    }
  });

  it("[PAGE-59] is usable at any width and in both themes, and its texts are only text", async () => {
    const hostile = await make(`<img src=x onerror="alert(1)"> \u202Eabc שלום`);
    await client.patchSession(hostile, {
      name: `"><script>alert(1)</script> ${"w".repeat(120)} \u202Eabc`,
    });
    for (const [name, view] of Object.entries({
      light: {},
      dark: { colorScheme: "dark" },
      phone: { width: 390, height: 800 },
      narrow: { width: 320, height: 640, colorScheme: "dark" },
    } as const)) {
      const page = await open("/", view);
      await page.getByText("<script>alert(1)</script>").waitFor();
      expect(await accessibilityProblems(page), name).toEqual([]);
      expect(
        await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
        name,
      ).toBeLessThanOrEqual(0);
      await keepPicture(page, `list-${name}`);
      await page.getByRole("button", { name: "New session" }).click();
      await page.getByRole("dialog").waitFor();
      expect(await accessibilityProblems(page), name).toEqual([]);
      await keepPicture(page, `new-session-${name}`);
      await page.keyboard.press("Escape");
      await page.close();
    }
  });
});
