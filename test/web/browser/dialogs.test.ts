import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { HAS_NO_BROWSER } from "../../helpers/page.ts";
import { startPageModel } from "../../helpers/page-world.ts";

describe.skipIf(HAS_NO_BROWSER)("the dialogs of a session", () => {
  let model: Awaited<ReturnType<typeof startPageModel>>;
  beforeAll(async () => {
    model = await startPageModel();
  });
  afterAll(() => model[Symbol.asyncDispose]());

  const opened = async (name: string) => {
    const world = await model.enter();
    const { id, page } = await world.open();
    const dialog = page.locator("dialog");
    /** Opens it with a key that is held while it opens. */
    const open = async (): Promise<void> => {
      await page.locator(".menu summary").click();
      await page.locator(".menu").getByRole("button", { name }).focus();
      await page.keyboard.down("Enter");
      await dialog.waitFor();
      await page.keyboard.down("Enter");
      await page.keyboard.down("Enter");
      await page.keyboard.up("Enter");
    };
    return { world, id, page, dialog, open };
  };

  it.each(["Name and settings …", "Export …", "End …", "Delete …"])(
    "[PAGE-210] stay open while the key that opened them is held (%s)",
    async (name) => {
      const { world, page, dialog, open } = await opened(name);
      await using _ = world;
      await open();
      // what the key did is done when the page answers the next one
      await page.keyboard.press("Shift");
      expect(await dialog.count()).toBe(1);
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      world.expectNoProblems();
    },
  );

  it("[PAGE-210] the settings save nothing with Enter before something is changed", async () => {
    const { world, id, page, dialog, open } = await opened("Name and settings …");
    await using _ = world;
    await open();
    const save = page.getByRole("button", { name: "Save" });
    expect(await save.isDisabled()).toBe(true);
    await page.keyboard.press("Enter");
    expect(await dialog.count()).toBe(1);
    await page.keyboard.type("a name");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    expect((await world.client.getSession(id)).name).toBe("a name");
    world.expectNoProblems();
  });

  it("[PAGE-210] a save that ends after its dialog was closed leaves the next dialog open", async () => {
    const { world, page, dialog, open } = await opened("Name and settings …");
    await using _ = world;
    let proceed = (): void => undefined;
    const isHeld = new Promise<void>((done) => {
      void page.route(/\/api\/sessions\/[^/]+$/, async (route) => {
        if (route.request().method() === "PATCH") {
          done();
          await new Promise<void>((go) => (proceed = go));
        }
        await route.continue();
      });
    });
    const name = page.getByRole("textbox", { name: "Name" });
    await open();
    await name.fill("first");
    await page.keyboard.press("Enter");
    await isHeld;
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await open();
    await name.fill("second");
    proceed();
    // the page has read the session again
    await page.getByRole("heading", { name: "first" }).waitFor();
    expect(await name.inputValue()).toBe("second");
    world.expectNoProblems();
  });
});
