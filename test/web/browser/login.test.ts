import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { addLoginCode } from "../../../src/store/access/logins.ts";
import { hashOf, newSecret } from "../../../src/store/access/secrets.ts";
import {
  accessibilityProblems,
  HAS_NO_BROWSER,
  keepPicture,
  startPage,
} from "../../helpers/page.ts";

const TOKEN = "a-token";

describe.skipIf(HAS_NO_BROWSER)("the login (needs Chromium)", () => {
  let world: Awaited<ReturnType<typeof startPage>>;
  beforeAll(async () => {
    world = await startPage({ token: TOKEN });
  });
  afterEach(() => world.expectNoProblems());
  afterAll(() => world[Symbol.asyncDispose]());

  it("[PAGE-38] with the code of an address logs in, and leaves no code in the address or the history", async () => {
    const code = newSecret();
    await world.service.store.write(addLoginCode, { hash: hashOf(code) });
    const page = await world.openPage(`/?archived=all#code=${code}`);
    await page.getByRole("button", { name: "Log out" }).waitFor();
    await page.getByText("No session is like this").waitFor();
    expect(page.url()).toBe(`${world.service.url}/?archived=all`);
    await page.getByRole("link", { name: "Plans" }).click();
    await page.goBack();
    expect(page.url()).toBe(`${world.service.url}/?archived=all`);
    expect(await page.evaluate(() => JSON.stringify(Object.entries(sessionStorage)))).not.toContain(
      code,
    );

    // used: another browser gets a sentence and the form
    const other = await world.openPage(`/#code=${code}`);
    await other.getByRole("alert").waitFor();
    expect(other.url()).toBe(`${world.service.url}/login`);
    await keepPicture(other, "login-refused");
  });

  it("[PAGE-38] with the token, by keyboard; then the address is shown, and logging out shows the form again", async () => {
    const page = await world.openPage("/plans", { width: 320, height: 640 });
    await page.goto(`${world.service.url}/service`);
    await page.goto(`${world.service.url}/`);
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await keepPicture(page, "login");
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("INPUT");
    await page.keyboard.type("wrong");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").waitFor();
    // the wrong one is selected
    await page.keyboard.type(TOKEN);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Sessions" }).waitFor();
    const kept = await page.evaluate(() =>
      JSON.stringify([
        Object.entries(sessionStorage),
        Object.entries(localStorage),
        document.cookie,
      ]),
    );
    expect(kept).not.toContain(TOKEN);
    await page.reload();
    await page.getByRole("heading", { name: "Sessions" }).waitFor();
    await page.getByRole("button", { name: "Log out" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("INPUT");
  });

  it("[PAGE-38] says that what is sent can be read on its way, if it can", async () => {
    await using plain = await startPage({
      token: TOKEN,
      host: "0.0.0.0",
      allowHosts: ["reprise.example"],
    });
    const port = new URL(plain.service.url).port;
    const context = await plain.newContext();
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${port}/login`);
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    expect(await page.getByText("not encrypted").count()).toBe(0);
    await page.route("**/page/me", async (route) => {
      const answer = await route.fetch({
        headers: { ...route.request().headers(), host: `reprise.example:${port}` },
      });
      await route.fulfill({ response: answer });
    });
    await page.reload();
    await page.getByText("This connection is not encrypted").waitFor();
    await keepPicture(page, "login-plain-http");
  });

  it("[PAGE-37] a tab whose files are gone says that a new version is running", async () => {
    const page = await world.openPage("/", { token: TOKEN });
    await page.getByRole("heading", { name: "Sessions" }).waitFor();
    await page.route("**/assets/Plans-*", (route) =>
      route.continue({ url: `${world.service.url}/assets/Plans-of-another-version.js` }),
    );
    await page.getByRole("link", { name: "Plans" }).click();
    await page.getByText("A new version is running: reload.").waitFor();
    await page.unroute("**/assets/Plans-*");
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByRole("heading", { name: "Plans" }).waitFor();
  });
});
