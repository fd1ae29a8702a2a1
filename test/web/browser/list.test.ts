import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { type Client, createClient } from "../../../src/client/client.ts";
import { createSession } from "../../../src/store/sessions/create.ts";
import { HAS_NO_BROWSER, keepPicture, startPage } from "../../helpers/page.ts";
import { logInBy, PAGE_TOKEN } from "../../helpers/page-login.ts";

describe.skipIf(HAS_NO_BROWSER)("the list of sessions (needs Chromium)", () => {
  let world: Awaited<ReturnType<typeof startPage>>;
  let client: Client;
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    world = await startPage({ token: PAGE_TOKEN });
    client = createClient({ baseUrl: world.service.url, token: PAGE_TOKEN });
    const make = async (title: string, request = {}) => {
      const { id } = await client.createSession(request);
      await client.postMessage(id, title);
      ids[title] = id;
      return id;
    };
    await make("Old work", { model_override: "openai:gpt-5" });
    await make("Release notes", { repo_path: "/work/reprise", model_override: "anthropic:opus" });
    const parent = await make("A parent", { repo_path: "/work/other" });
    for (const name of ["first child", "second child"]) {
      const child = await world.service.store.write(createSession, { parent_session_id: parent });
      await client.postMessage(child.id, name);
      ids[name] = child.id;
    }
    await make("A title with ‮right-to-left‬ and <b>tags</b> שלום", {});
    await client.queueExchange(await make("Queued here"), "go on");
    await client.endSession(await make("All done"));
  });
  afterAll(async () => {
    world.expectNoProblems();
    await world[Symbol.asyncDispose]();
  });

  it("look", async () => {
    for (const [name, view] of Object.entries({
      light: {},
      dark: { colorScheme: "dark" },
      phone: { width: 390, height: 800 },
      narrow: { width: 320, height: 600, colorScheme: "dark" },
    } as const)) {
      const page = await world.openPage("/", view);
      await keepPicture(page, `login-${name}`);
      await logInBy(page);
      await page.getByRole("link", { name: "Old work" }).waitFor();
      await keepPicture(page, `list-${name}`);
      await page.getByRole("button", { name: "sub-agents of A parent" }).click();
      await page.getByRole("button", { name: "New session" }).click();
      await page.getByLabel("Folder").last().waitFor();
      await keepPicture(page, `new-${name}`);
      await page.getByRole("button", { name: "Cancel" }).click();
      await page.getByRole("button", { name: "Actions for Old work" }).click();
      await page.getByRole("button", { name: "Delete …" }).waitFor();
      await keepPicture(page, `actions-${name}`);
      await page.getByRole("button", { name: "Delete …" }).click();
      await page.getByText("cannot be undone").waitFor();
      await keepPicture(page, `delete-${name}`);
    }
    expect(1).toBe(1);
  });
});
