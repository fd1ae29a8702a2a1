import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { addLoginCode } from "../../../src/store/records/access/logins.ts";
import { hashOf, newSecret } from "../../../src/store/records/access/secrets.ts";
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
  afterEach(() => world.expectOnlyCutStreams());
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

  it("[PAGE-38] with the code of an address that is put into an open tab, and without cookies uses no code", async () => {
    const page = await world.openPage("/");
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    const session = await page.context().newCDPSession(page);
    const code = newSecret();
    await world.service.store.write(addLoginCode, { hash: hashOf(code) });
    await session.send("Emulation.setDocumentCookieDisabled", { disabled: true });
    await page.goto(`${world.service.url}/#code=${code}`);
    await page.getByText("This browser keeps no cookies").waitFor();
    expect(page.url()).toBe(`${world.service.url}/login`);
    await session.send("Emulation.setDocumentCookieDisabled", { disabled: false });
    await page.goto(`${world.service.url}/`);
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    await page.goto(`${world.service.url}/#code=${code}`);
    await page.getByRole("heading", { name: "Sessions" }).waitFor();
    expect(page.url()).toBe(`${world.service.url}/`);
  });

  it("[PAGE-91] a link is opened in a tab that shows another one, which was ended, and is never in its address", async () => {
    const id = await world.service.newSession();
    await world.service.post(id, "what is shared");
    const headers = { authorization: `Bearer ${TOKEN}` };
    const make = () =>
      world.service
        .call<{ id: string; path: string }>("POST", `/api/sessions/${id}/shares`, { headers })
        .then(({ json }) => json);
    const first = await make();
    const page = await world.openPage("/plans");
    let isAnswered = false;
    await page.route("**/page/login", async (route) => {
      const response = await route.fetch();
      // what does not wait for the answer would say that the link is not whole
      expect(await page.getByText("needs the whole link").count()).toBe(0);
      isAnswered = true;
      await route.fulfill({ response });
    });
    await page.goto(`${world.service.url}${first.path}`);
    await page.getByText("what is shared").last().waitFor();
    expect(isAnswered).toBe(true);
    await world.service.call("DELETE", `/api/sessions/${id}/shares/${first.id}`, { headers });
    await page.goto(`${world.service.url}${first.path}`);
    await page.getByText("This link is not valid").waitFor();
    expect(page.url()).not.toContain("share=");
    await page.goto(`${world.service.url}${first.path}`);
    await expect.poll(() => page.url()).not.toContain("share=");
    await page.goto(`${world.service.url}${(await make()).path}`);
    await page.getByText("what is shared").last().waitFor();
    expect(page.url()).not.toContain("share=");
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
