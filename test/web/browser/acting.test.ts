import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { accessibilityProblems, HAS_NO_BROWSER, keepPicture } from "../../helpers/page.ts";
import {
  composerOf as composer,
  heightInView,
  nextFrames,
  say,
  seeAll,
  startPageModel,
  startPageWorld,
} from "../../helpers/page-world.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

describe.skipIf(HAS_NO_BROWSER)("what a person does in the page of a session", () => {
  let model: Awaited<ReturnType<typeof startPageModel>>;
  beforeAll(async () => {
    model = await startPageModel();
  });
  afterAll(() => model[Symbol.asyncDispose]());

  const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name });
  const answerWith = async (page: Page, name: string): Promise<void> => {
    await seeAll(page);
    await page.locator(".choices").first().scrollIntoViewIfNeeded();
    await page.locator(`.choices button:has-text("${name}")`).first().scrollIntoViewIfNeeded();
    // a press in the moment of scrolling does not count
    await nextFrames(page);
    await page.locator(`.choices button:not([aria-disabled=true]):has-text("${name}")`).click();
  };

  it("[PAGE-80] [PAGE-82] [PAGE-88] asks before a file is written, and takes it back afterwards", async () => {
    await using world = await model.enter();
    const { id, page } = await world.open();
    // a name that would read as another one, over two lines
    const file = join(world.project, "no\u202e\nte.txt");
    const shown = "no<U+202E>\u240ate.txt";
    await world.client.queueExchange(id, "write no\u202e\nte.txt");
    const question = page.getByRole("article").filter({ hasText: "allow once" });
    await question.getByText("three").waitFor();
    // the title comes after the question was drawn
    await expect.poll(() => page.title()).toMatch(/^\(1\) /);
    expect(await accessibilityProblems(page)).toEqual([]);
    await keepPicture(page, "question");
    expect(existsSync(file)).toBe(false);
    await answerWith(page, "allow once");
    await page.getByText("It is done.").waitFor();
    expect(readFileSync(file, "utf8")).toBe("one\ntwo\nthree\n");
    // the question is gone, and the focus is where the next message is written
    await expect.poll(() => page.title()).not.toMatch(/^\(/);
    await expect
      .poll(() => composer(page).evaluate((element) => element === document.activeElement))
      .toBe(true);
    const lines = page.locator(".changed-lines", { hasText: /^\+3 −0$/ });
    await lines.waitFor();
    await button(page, "Undo 1 file …").click();
    await page.getByText("1 file can be undone.").waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".session-facts").click();
    await page.getByText("Exchange 1: 1 change").click();
    await button(page, "Undo exchange 1 …").click();
    await page.getByText("1 file can be undone.").waitFor();
    expect(await page.locator("dialog figcaption").innerText()).toContain(shown);
    await page.getByRole("dialog").getByRole("button", { name: "Undo 1 file" }).click();
    await page.getByText("1 file was undone.").waitFor();
    expect(await page.locator(".session-head .change > figcaption").first().innerText()).toContain(
      shown,
    );
    expect(existsSync(file)).toBe(false);
    await button(page, "Close").last().click();
    await button(page, "Undo 1 file …").waitFor({ state: "detached" });
    await button(page, "Make it again …").click();
    await button(page, "Make again 1 file").click();
    await page.getByText("1 file was made again.").waitFor();
    expect(existsSync(file)).toBe(true);
    world.expectNoProblems();
  });

  it("[PAGE-140] a new session in a folder that is not there says so, and the folder can be changed", async () => {
    await using world = await model.enter();
    const page = await world.openAs("/");
    await page.getByRole("button", { name: "New session" }).click();
    const folder = page.getByRole("dialog").getByLabel("Folder");
    await folder.fill(`${world.project}/mistyped`);
    await folder.press("Enter");
    await page.getByText("This folder does not exist on the machine of the service").waitFor();
    const made = async () => {
      const { sessions } = await world.client.listSessions();
      return sessions.filter(({ repo_path }) => repo_path?.startsWith(world.project) === true);
    };
    expect(await made()).toHaveLength(1);
    await page.getByRole("button", { name: "Change the folder" }).click();
    expect(await folder.inputValue()).toBe(`${world.project}/mistyped`);
    await folder.fill(world.project);
    await folder.press("Enter");
    await page.waitForURL(/\/sessions\/[0-9a-f-]{36}$/);
    expect(await made()).toMatchObject([{ repo_path: world.project }]);
    world.expectNoProblems();
  });

  it("[PAGE-125] a message whose exchange could not begin is shown, and goes back into the composer", async () => {
    await using world = await model.enter();
    const { id, page } = await world.open();
    rmSync(world.project, { recursive: true });
    await world.client.queueExchange(id, "a long and careful message");
    await world.client.queueExchange(id, "and another one");
    await page.getByText("This exchange failed (folder_missing)").waitFor();
    const again = button(page, "Edit and send again");
    await expect.poll(() => again.count()).toBe(2);
    await again.first().click();
    await again.last().click();
    await expect
      .poll(() => composer(page).inputValue())
      .toBe("a long and careful message\n\nand another one");
  });

  it("[PAGE-83] a click or key that comes before the answers were in view for 400 ms does nothing", async () => {
    await using world = await model.enter();
    const { id, page } = await world.open();
    const file = join(world.project, "early.txt");
    await page.clock.install({ time: 0 });
    await page.clock.pauseAt(1000);
    await world.client.queueExchange(id, "write early.txt");
    const yes = button(page, "allow once");
    while ((await yes.count()) === 0) {
      await page.clock.runFor(20);
    }
    // the press begins too early, whenever it ends
    await yes.dispatchEvent("pointerdown");
    await yes.dispatchEvent("click");
    await yes.dispatchEvent("pointerdown");
    await yes.focus();
    while ((await yes.getAttribute("aria-disabled")) === "true") {
      await page.clock.runFor(20);
    }
    await yes.dispatchEvent("click");
    // a key that is held down
    await yes.dispatchEvent("keydown", { key: "Enter", repeat: true });
    await yes.dispatchEvent("click");
    await page.clock.runFor(1000);
    expect(await yes.count()).toBe(1);
    expect(existsSync(file)).toBe(false);
    await page.keyboard.press("Enter");
    await expect.poll(() => existsSync(file)).toBe(true);
  });

  it("[PAGE-83] answers that came to where others were do not count at once, and a screen reader's click counts", async () => {
    await using world = await model.enter();
    const { id, page } = await world.open({ height: 2000 });
    await say(page, "twice");
    const armed = page.locator(".choices button:not([aria-disabled=true])", {
      hasText: "allow once",
    });
    await expect.poll(() => armed.count()).toBeGreaterThan(0);
    // what moves with the page under a finger: the press comes before the page is drawn again
    await armed.first().evaluate((button) => {
      const pane = button.closest<HTMLElement>(".question");
      pane?.style.setProperty("transform", "translateY(30px)");
      button.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
      button.dispatchEvent(new PointerEvent("click", { bubbles: true }));
    });
    await expect.poll(() => armed.count()).toBeGreaterThan(0);
    expect(await page.locator(".questions-count").innerText()).toContain("2 questions");
    expect(await world.client.listQuestions(id)).toHaveLength(2);
    // assistive technology sends a click alone
    await armed.first().evaluate((button: HTMLButtonElement) => button.click());
    await expect.poll(async () => (await world.client.listQuestions(id)).length).toBe(1);
    world.expectNoProblems();
  });

  // questions.test.ts has more windows, without the file that is written
  const LOW: readonly (readonly [number, number])[] = [
    [1280, 540],
    [360, 300],
  ];

  it("[PAGE-84] [PAGE-130] a yes needs the end in view, and a question can be read and answered in windows of any height", async () => {
    await using world = await model.enter();
    const { id, page } = await world.open();
    for (const [n, [width, height]] of LOW.entries()) {
      const name = `${width} x ${height}`;
      await page.setViewportSize({ width, height });
      await world.client.queueExchange(id, `lines ${n}.txt`);
      await page.locator(".choices button", { hasText: "deny" }).waitFor({ state: "attached" });
      await keepPicture(page, `question-first-${width}-${height}`);
      // the answers are reached without the end of the text
      await page.locator(".choices").scrollIntoViewIfNeeded();
      const yes = page.locator(".choices button", { hasText: "allow once" });
      await page
        .locator(".choices button:not([aria-disabled=true])", { hasText: "deny" })
        .waitFor();
      await yes.evaluate((element: HTMLButtonElement) => element.click());
      await page.getByText("Scroll through all of it to allow it.").waitFor();
      expect(await yes.getAttribute("aria-disabled"), name).toBe("true");
      await page.locator(".question-body").scrollIntoViewIfNeeded();
      expect.soft(await heightInView(page.locator(".question-body")), name).toBeGreaterThan(70);
      await keepPicture(page, `question-${width}-${height}`);
      expect(existsSync(join(world.project, `${n}.txt`)), name).toBe(false);
      await answerWith(page, "allow once");
      await expect.poll(async () => (await world.client.getExchange(id, n + 1)).state).toBe("done");
      expect(readFileSync(join(world.project, `${n}.txt`), "utf8")).toMatch(/the last line\n$/);
      // the next one would be taken for this one
      await page.locator(".question").waitFor({ state: "detached" });
    }
    world.expectNoProblems();
  });

  it("[PAGE-84] a yes to more than 200 lines needs to have seen them, a no does not", async () => {
    await using world = await model.enter();
    const { page } = await world.open();
    await say(page, "long big.txt");
    const yes = page.locator(".choices button", { hasText: "allow once" });
    await page.locator(".choices button:not([aria-disabled=true])", { hasText: "deny" }).waitFor();
    expect(await yes.getAttribute("aria-disabled")).toBe("true");
    await button(page, /^Show the \d+ lines between$/).click();
    await answerWith(page, "allow once");
    await page.getByText("It is done.").waitFor();
    expect(readFileSync(join(world.project, "big.txt"), "utf8").split("\n")).toHaveLength(301);
  });

  it("[PAGE-85] a question that is answered in a terminal goes away in all tabs, and they say who answered", async () => {
    await using world = await model.enter();
    const { id, page } = await world.open();
    const other = await world.openPage(`/sessions/${id}`, { context: page.context() });
    const phone = await world.openAs(`/sessions/${id}`, {
      width: 320,
      height: 640,
      colorScheme: "dark",
    });
    await say(page, "twice");
    for (const each of [page, other, phone]) {
      await each.locator(".questions-count").waitFor();
    }
    expect(await phone.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
    await keepPicture(phone, "question-phone");
    // the first from the phone
    await answerWith(phone, "allow once");
    await expect.poll(() => existsSync(join(world.project, "a.txt"))).toBe(false);
    for (const each of [page, other]) {
      await each.getByText("Answered by token over HTTP, allow once", { exact: false }).waitFor();
    }
    // a tab that cannot read what became of it says no more than it knows
    await other.route("**/questions?answered=true", (route) => route.fulfill({ status: 404 }));
    const answered = await world.home.call(["sessions", "answer", id, "deny"]);
    expect(answered.code, answered.stderr).toBe(0);
    await other.getByText("The question is not open any more: May the agent").waitFor();
    for (const each of [page, phone]) {
      await each
        .getByText(/Answered by \S+@\S+ as a command, deny|Answered by \S+@\S+ in a terminal, deny/)
        .waitFor();
    }
    for (const each of [page, other, phone]) {
      await each.getByText("It is done.").waitFor();
    }
    expect(existsSync(join(world.project, "a.txt"))).toBe(true);
    expect(existsSync(join(world.project, "b.txt"))).toBe(false);
  });

  it("[PAGE-85] hundreds of questions that are withdrawn at once all go away", async () => {
    await using world = await model.enter();
    const { id, page } = await world.open();
    await say(page, "many");
    await page.getByText("201 questions wait for an answer.").first().waitFor();
    await world.client.stopExchange(id, 1);
    await expect.poll(() => page.locator(".question").count()).toBe(0);
    world.expectNoProblems();
  });

  it("[PAGE-81] [PAGE-86] stops an answer, and queues, changes and withdraws what waits, by keyboard alone", async () => {
    await using world = await model.enter();
    const { page } = await world.open({ width: 320, height: 640 });
    await say(page, "stall");
    await page.getByText("The answer begins").waitFor();
    await composer(page).waitFor();
    await say(page, "first in the queue");
    await page.getByText("1 message in the queue").waitFor();
    await say(page, "second in the queue");
    await page.getByText("2 messages in the queue").waitFor();
    await page.getByText("second in the queue").waitFor();
    await button(page, "Change").first().focus();
    await page.keyboard.press("Enter");
    await page.getByLabel("Message 2 of the queue").fill("changed in the queue");
    await button(page, "Keep the change").focus();
    await page.keyboard.press("Enter");
    await page.getByText("changed in the queue").waitFor();
    await button(page, "Withdraw").last().focus();
    await page.keyboard.press("Enter");
    await page.getByText("1 message in the queue").waitFor();
    await composer(page).focus();
    await page.keyboard.press("Escape");
    await page.getByText("You said: changed in the queue").waitFor();
    expect(await page.getByText("You said: second").count()).toBe(0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
    world.expectNoProblems();
  });

  it("[PAGE-131] a session whose exchange was stopped is stopped in its head and in the list", async () => {
    await using world = await model.enter();
    const { id, page } = await world.open();
    const list = await world.openPage("/", { context: page.context() });
    const row = list.locator(".session-row", { has: list.locator(`a[href$="${id}"]`) });
    await say(page, "stall");
    await page.getByText("The answer begins").waitFor();
    await button(page, "Stop").click();
    await page.locator(".session-head .state.stopped").waitFor();
    await row.locator(".state.stopped").waitFor();
    await page.reload();
    await page.locator(".session-head .state.stopped").waitFor();
    await list.goto(new URL("/?state=stopped", world.url).href);
    await row.locator(".state.stopped").waitFor();
    await say(page, "hello");
    await page.locator(".session-head .state.idle").waitFor();
    world.expectNoProblems();
  });

  it("[PAGE-86] a stop that is pressed while a message is on its way stops", async () => {
    await using world = await model.enter();
    const { page } = await world.open();
    await say(page, "stall");
    await page.getByText("The answer begins").waitFor();
    const { promise: stopped, resolve: stop } = Promise.withResolvers<unknown>();
    await page.route("**/exchanges", async (route) => {
      if (route.request().method() === "POST") {
        await stopped;
      }
      await route.continue();
    });
    const asked = page.waitForRequest(/\/exchanges$/);
    await say(page, "sent slowly");
    await asked;
    stop(page.waitForResponse(/\/stop$/));
    await button(page, "Stop").click();
    await page.getByText("You said: sent slowly").waitFor();
    world.expectNoProblems();
  });

  it.each(["lost", "held back for ever"])(
    "[PAGE-87] a draft survives a reload, and is sent once although the answer of the service is %s",
    async (how) => {
      await using world = await model.enter();
      const { id, page } = await world.open();
      await composer(page).fill("kept over a reload");
      await page.reload();
      await expect.poll(() => composer(page).inputValue()).toBe("kept over a reload");
      let lost = 0;
      await page.route("**/exchanges", async (route) => {
        if (route.request().method() === "POST" && lost === 0) {
          await route.fetch();
          lost += 1;
          await (how === "lost" ? route.abort("connectionreset") : new Promise(() => undefined));
        } else {
          await route.continue();
        }
      });
      await page.clock.install();
      await composer(page).focus();
      await page.keyboard.press("Enter");
      if (how !== "lost") {
        await expect.poll(() => lost).toBe(1);
        await page.clock.fastForward(20_000);
      }
      await page.getByText("sent again, it is stored once").waitFor();
      await page.reload();
      await expect.poll(() => composer(page).inputValue()).toBe("kept over a reload");
      await composer(page).focus();
      await page.keyboard.press("Enter");
      await expect.poll(() => composer(page).inputValue()).toBe("");
      await page.getByText("You said: kept over a reload").waitFor();
      // an answer is shown before it is stored
      await expect
        .poll(async () => (await world.client.listMessages(id)).messages.map(({ role }) => role))
        .toEqual(["user", "assistant"]);
    },
  );

  it("[PAGE-147] lets another model continue the conversation, or begin without it", async () => {
    await using world = await model.enter();
    const { id, page } = await world.open();
    // by keys: the head grows while an exchange runs, and moves the menu away from a pointer
    const switchTo = async (model: string): Promise<void> => {
      await page.locator(".menu summary").press("Enter");
      await page
        .locator(".menu")
        .getByRole("button", { name: "Name and settings …" })
        .press("Enter");
      await page.getByLabel("Model", { exact: true }).fill(model);
    };
    const context = page.getByRole("combobox", { name: "Conversation" });
    // the model of a session is not changed while an exchange runs, which shows its answer before it ends
    const ended = (n: number, state: string) =>
      expect.poll(async () => (await world.client.getExchange(id, n)).state).toBe(state);
    await say(page, "count");
    await page.getByText("Messages of a person: 1").waitFor();
    await say(page, "stall");
    await page.getByText("The answer begins").waitFor();
    await switchTo("openai:other");
    await button(page, "Save").click();
    await page.locator("dialog").getByText("An exchange is running in this session").waitFor();
    expect((await world.client.getSession(id)).model).not.toBe("openai:other");
    await world.client.stopExchange(id, 2);
    await ended(2, "stopped");
    await keepPicture(page, "another-model");
    await button(page, "Save").click();
    await page.locator("dialog").waitFor({ state: "detached" });
    await say(page, "count");
    await page.getByText("Messages of a person: 3").waitFor();
    await ended(3, "done");
    expect((await world.client.getSession(id)).model).toBe("openai:other");
    await switchTo("openai:third");
    await context.selectOption("fresh");
    await button(page, "Save").click();
    await page.locator("dialog").waitFor({ state: "detached" });
    await say(page, "count");
    await expect.poll(() => page.getByText("Messages of a person: 1").count()).toBe(2);
    await ended(4, "done");
    // a persona begins without it
    await switchTo("openai:fourth");
    await context.waitFor();
    await page.getByRole("combobox", { name: "Persona" }).selectOption({ index: 1 });
    expect(await context.count()).toBe(0);
    await button(page, "Save").click();
    await page.locator("dialog").waitFor({ state: "detached" });
    expect((await world.client.getSession(id)).model).toBe("openai:fourth");
    world.expectNoProblems();
  });

  it.each(["light", "dark"] as const)(
    "[LIMITED-20] [PAGE-148] [PAGE-120] [PAGE-121] after a limit, keys alone let the exchange wait, name another model, and continue at once (%s)",
    async (colorScheme) => {
      // a service remembers a limit for all sessions
      await using world = await startPageWorld();
      const { id, page } = await world.open({ colorScheme, width: 320, height: 640 });
      const press = async (name: string | RegExp): Promise<void> => {
        await button(page, name).first().focus();
        await page.keyboard.press("Enter");
      };
      await say(page, "limit");
      await button(page, /^Continue at \d/).waitFor();
      expect(await accessibilityProblems(page)).toEqual([]);
      await keepPicture(page, `limited-${colorScheme}`);
      const failed = await world.client.getExchange(id, 1);
      await press(/^Continue at \d/);
      await page.getByText(/^Waits until \d/).waitFor();
      expect(await world.client.getExchange(id, 2)).toMatchObject({
        state: "queued",
        content: null,
        not_before: failed.resets_at,
      });
      expect(await accessibilityProblems(page)).toEqual([]);
      await keepPicture(page, `limit-waits-${colorScheme}`);

      await page.locator(".menu summary").click();
      await press("Name and settings …");
      const kind = page.getByLabel("If the provider cannot answer");
      await kind.selectOption("These models, in this order");
      await page.getByLabel("Model 1 in its place").fill("openai:spare");
      await page.getByLabel("Model 2 in its place").fill("openai:gone");
      await page.getByLabel("Model 3 in its place").fill("openai:third");
      await page.getByLabel("Model 2 in its place").fill("");
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.getByLabel("Model 1 in its place").scrollIntoViewIfNeeded();
      await keepPicture(page, `fallback-${colorScheme}`);
      await page.keyboard.press("Enter");
      await page.locator("dialog").waitFor({ state: "detached" });
      expect((await world.client.getSession(id)).fallback).toEqual([
        "openai:spare",
        "openai:third",
      ]);

      await press("Continue now");
      await page.getByText("Another model answers.").waitFor();
      await expect.poll(() => button(page, /^Continue/).count()).toBe(0);
      await page.locator(".session-facts").click();
      await page.getByText("openai:spare answers in the place of openai:test").waitFor();
      await keepPicture(page, `fallback-answered-${colorScheme}`);
      world.expectNoProblems();
    },
  );

  it("[PAGE-89] [PAGE-91] [PAGE-124] [PAGE-181] names, moves, archives, shares, exports, ends and deletes a session", async () => {
    await using world = await model.enter();
    const { id, page } = await world.open();
    await say(page, "hello");
    await page.getByText("You said: hello").waitFor();
    const choose = async (name: string): Promise<void> => {
      await page.locator(".menu summary").click();
      await page.locator(".menu").getByRole("button", { name }).click();
    };
    await choose("Name and settings …");
    await page.getByLabel("Name", { exact: true }).fill("The first one");
    await page.getByLabel(/^Planning mode/).check();
    await button(page, "Save").click();
    await page.getByRole("heading", { name: "The first one" }).waitFor();
    await page.getByText("planning mode", { exact: true }).waitFor();
    const mode = page.getByRole("combobox", { name: "Permissions" });
    // set in another program while the page is open
    await world.client.patchSession(id, { permission: "edits" });
    await choose("Name and settings …");
    await expect.poll(() => mode.inputValue()).toBe("edits");
    await mode.selectOption("all");
    await button(page, "Save").click();
    await page.locator(".session-facts .mark", { hasText: "all" }).waitFor();
    const folder = temporaryFolder();
    await choose("Name and settings …");
    await page.getByLabel("Folder", { exact: true }).fill(folder);
    await page.getByText("what you allowed counts no more").waitFor();
    await button(page, "Save and move").click();
    await page.locator(".session-facts").getByText(folder).waitFor();
    expect(await world.client.getSession(id)).toMatchObject({
      repo_path: folder,
      permission: "ask",
    });
    await choose("Archive");
    await page.getByText("archived", { exact: true }).waitFor();
    await choose("Links to read it …");
    await button(page, "Make a link").click();
    const link = await page.locator(".share-made code").innerText();
    await button(page, "Close").click();
    const download = page.waitForEvent("download");
    await choose("Export …");
    await button(page, "Save the file").click();
    const exported = await (await download).path();
    expect(readFileSync(exported, "utf8")).toContain("You said: hello");
    const visitor = await world.openPage(link);
    await visitor.getByText("You said: hello").waitFor();
    expect(await visitor.content()).not.toContain(world.project);
    expect(visitor.url()).not.toContain("share=");
    await world.client.postMessage(id, "a message for all");
    await visitor.getByText("a message for all").waitFor();
    expect(await accessibilityProblems(visitor)).toEqual([]);
    await keepPicture(visitor, "shared");
    await choose("End …");
    await button(page, "End the session").click();
    await page.getByText("This session has ended").waitFor();
    expect(await composer(page).count()).toBe(0);
    await choose("Delete …");
    await page.getByText("3 messages").first().waitFor();
    world.expectNoProblems();
    // an answer that is lost: done again, it is done
    let lost = 0;
    await page.route("**/api/sessions/*", async (route) => {
      if (route.request().method() === "DELETE" && lost === 0) {
        lost += 1;
        await route.fetch();
        await route.abort("connectionreset");
      } else {
        await route.continue();
      }
    });
    const confirm = page.locator("dialog").getByRole("button", { name: "Delete" });
    await confirm.click();
    await page.getByText("The service did not answer").waitFor();
    await confirm.click();
    await page.getByRole("heading", { name: "Sessions" }).waitFor();
    await visitor.reload();
    await visitor.getByText(/not valid|needs the whole link/).waitFor();
  });

  it("[PAGE-90] who is not logged in is asked for the token, and sees nothing", async () => {
    await using world = await model.enter();
    const { id } = await world.client.createSession({});
    const page = await world.openPage(`/sessions/${id}`);
    await page.getByLabel("Token").waitFor();
    expect(await composer(page).count()).toBe(0);
  });
});
