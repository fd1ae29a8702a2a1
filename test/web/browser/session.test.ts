import { isDeepStrictEqual } from "node:util";

import { AIMessage } from "@langchain/core/messages";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { NO_COUNTS } from "../../../src/core/cost/model-calls.ts";
import { createFeed, type Feed } from "../../../src/exchange/live/feed.ts";
import { mirrorMessages } from "../../../src/store/records/messages/mirror.ts";
import { storeCalls } from "../../../src/store/records/model-calls/store-calls.ts";
import { startThread } from "../../../src/store/records/sessions/change.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import type { Store } from "../../../src/store/store.ts";
import { createDatabase } from "../../helpers/database.ts";
import { longestSilence } from "../../helpers/longest-silence.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import { PAGE_TOKEN, startPageService } from "../../helpers/page-service.ts";
import { freshHome } from "../../helpers/reprise.ts";
import { startThinkingModel } from "../../helpers/thinking-model.ts";
import {
  accessibilityProblems,
  HAS_NO_BROWSER,
  keepPicture,
  openPages,
  startPage,
} from "../../helpers/page.ts";
import { nextFrames } from "../../helpers/page-world.ts";
import { openBench } from "../../helpers/sessions/bench.ts";
import { createTalk, storedMessage, type Talk } from "../../helpers/talk.ts";

const LONG = 3000;

/** A service with its page whose exchanges the tests run by hand. */
async function startWorld() {
  const stack = new AsyncDisposableStack();
  const database = stack.use(await createDatabase());
  const store = stack.use(await openStoreAt(database.location));
  const feed = createFeed({ store });
  const world = stack.use(await startPage({ store, live: feed }));
  return { ...world, store, feed, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

async function makeLong(store: Store): Promise<string> {
  const { id: session_id } = await store.write(createSession, {});
  const messages = Array.from({ length: LONG }, (_, index) =>
    storedMessage({
      role: index % 2 === 0 ? "user" : "assistant",
      content: `Message ${index + 1}. ${"Words of *different* number. ".repeat(1 + (index % 17))}`,
    }),
  );
  await store.write(mirrorMessages, { session_id, messages });
  return session_id;
}

/** Where rows are in the window, by `seq`. */
function placesOf(page: Page): Promise<Record<string, number>> {
  return page.evaluate(() =>
    Object.fromEntries(
      [...document.querySelectorAll<HTMLElement>("[data-seq]")].map((row) => [
        row.dataset["seq"],
        row.getBoundingClientRect().top,
      ]),
    ),
  );
}

/** Where the rows are that the reader sees. */
function placesInView(page: Page): Promise<Record<string, number>> {
  return page.locator(".transcript-scroller").evaluate((scroller) => {
    const view = scroller.getBoundingClientRect();
    return Object.fromEntries(
      [...scroller.querySelectorAll<HTMLElement>("[data-seq]")]
        .map((row) => [row.dataset["seq"], row.getBoundingClientRect()] as const)
        .filter(([, { top, bottom }]) => bottom > view.top && top < view.bottom)
        .map(([seq, { top }]) => [seq, top]),
    );
  });
}

const rowAt = (page: Page, seq: number) => page.locator(`[data-seq="${seq}"]`);

describe.skipIf(HAS_NO_BROWSER)("the page of a session", () => {
  let world: Awaited<ReturnType<typeof startWorld>>;
  let feed: Feed;
  let long: string;

  beforeAll(async () => {
    world = await startWorld();
    ({ feed } = world);
    long = await makeLong(world.store);
  });
  afterAll(() => world[Symbol.asyncDispose]());
  afterEach(() => world.expectNoProblems());

  const newTalk = async (title: string): Promise<{ id: string; talk: Talk }> => {
    const { id } = await world.store.write(createSession, { repo_path: "/home/somebody/shop" });
    const talk = createTalk(world.store, feed, id);
    await talk.begin(title);
    return { id, talk };
  };

  it("[PAGE-146] shows after a reload that the model thought, and what", async () => {
    const bench = await openBench();
    await using there = await startPage({ store: bench.store });
    const thinking = { type: "thinking", thinking: "the user greets", signature: "c2ln" };
    const hidden = { type: "redacted_thinking", data: "c2Vj" };
    for (const [at, block] of [thinking, hidden].entries()) {
      await bench.append(`question ${at}`);
      await bench.put(new AIMessage({ content: [block, { type: "text", text: "answer" }] }));
    }
    const page = await there.openPage(`/sessions/${bench.id}`);
    await page.reload();
    await page.getByText("Thought (hidden by the provider)").waitFor();
    await page.getByText("Thought", { exact: true }).click();
    await page.getByText("the user greets").waitFor();
    there.expectNoProblems();
  });

  it("[PAGE-142] [PAGE-146] shows the thought of an answer whose calls join the group before it", async () => {
    const { id, talk } = await newTalk("Read both");
    const page = await world.openPage(`/sessions/${id}`);
    const reading = ["one", "two"].map((name) => ({
      id: name,
      name: "read_file",
      args: { path: `${name}.ts` },
    }));
    for (const [at, call] of reading.entries()) {
      const message_id = `reads ${call.id}`;
      talk.hear({ type: "reasoning", message_id, text: `Why ${call.id}.` });
      await page.getByText("Thinking…").waitFor();
      const tool_calls = [{ ...call, effect: "reads" as const, subject: call.args.path }];
      await talk.store(storedMessage({ role: "assistant", content: "", message_id, tool_calls }));
      await talk.result(call, `Content of ${call.id}.`);
      await expect.poll(() => page.getByText(/^Thought for/).count()).toBe(at + 1);
    }
    await page.getByText("2 calls").waitFor();
    await page
      .getByText(/^Thought for/)
      .last()
      .click();
    await page.getByText("Why two.").waitFor();
    await talk.end();
    await page.context().close();
  });

  it("[PAGE-170] keeps a thought open that is opened while its answer is written or being stored", async () => {
    const { id, talk } = await newTalk("Think about it");
    const page = await world.openPage(`/sessions/${id}`);
    const title = page.getByText(/^Thought for/);
    const think = async (message_id: string): Promise<void> => {
      talk.hear({ type: "reasoning", message_id, text: `The idea of ${message_id}.` });
      await page.getByText("Thinking…").waitFor();
      talk.say(message_id, "It is *so*.");
      await page.locator(".live em").waitFor();
    };
    const keep = async (message_id: string, seq: number): Promise<void> => {
      await talk.store(storedMessage({ role: "assistant", content: "It is *so*.", message_id }));
      await rowAt(page, seq).waitFor();
    };
    await think("first");
    await title.click();
    await page.getByText("The idea of first.").waitFor();
    await keep("first", 2);
    await page.getByText("The idea of first.").waitFor();
    // the answer becomes a message between press and release
    await think("second");
    await title.last().hover();
    await page.mouse.down();
    await keep("second", 3);
    await page.mouse.up();
    await page.getByText("The idea of second.").waitFor();
    // a call that becomes part of a group
    const read = (id: string) => ({ id, name: "read_file", args: { path: `${id}.ts` } });
    await talk.call("", [read("one")]);
    await talk.result(read("one"), "Content of one.");
    await page.locator("summary", { hasText: "one.ts" }).click();
    await page.getByText("Content of one.").waitFor();
    await talk.call("", [read("two")]);
    await page.getByText("2 calls").waitFor();
    await page.getByText("Content of one.").waitFor();
    await talk.end();
    await page.context().close();
  });

  it("[PAGE-190] shows an answer once, although its message is read before the stream brings it", async () => {
    const { id } = await world.store.write(createSession, {});
    const talk = createTalk(world.store, feed, id);
    const context = await world.newContext();
    // a slow connection: what a stream brings waits while the test says so
    await context.addInitScript(() => {
      const slow = { gate: Promise.resolve() };
      const read = fetch;
      window.fetch = async (...asked) => {
        const answer = await read(...asked);
        const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream");
        if (isStream === true) {
          Object.assign(slow, { isOpen: true });
        }
        const late = new TransformStream<Uint8Array, Uint8Array>({
          transform: async (bytes, out) => {
            await slow.gate;
            out.enqueue(bytes);
          },
        });
        return isStream === true && answer.body !== null
          ? new Response(answer.body.pipeThrough(late), answer)
          : answer;
      };
      Object.assign(window, { slow });
    });
    const hold = (on: Page) =>
      on.evaluate(() => {
        const { promise, resolve } = Promise.withResolvers<void>();
        Object.assign(Reflect.get(window, "slow"), { gate: promise, release: resolve });
      });
    const release = (on: Page) => on.evaluate(() => void Reflect.get(window, "slow").release());
    const answers = (on: Page) => on.locator(".message", { hasText: "It is said." });

    const page = await world.openPage(`/sessions/${id}`, { context });
    await page.getByText("There is no message yet.").waitFor();
    await page.waitForFunction(() => Reflect.get(Reflect.get(window, "slow"), "isOpen"));
    // the session is read when its exchange begins, and the answer comes after the message was stored
    const { promise: stored, resolve: store } = Promise.withResolvers<undefined>();
    await page.route("**/api/sessions/*?messages=false", async (route) => {
      await stored;
      await route.continue();
    });
    const asked = page.waitForRequest(/messages=false/);
    await talk.begin("Say it");
    await asked;
    talk.say("answer", "It is said.");
    await answers(page).waitFor();
    await hold(page);
    await talk.store(
      storedMessage({ role: "assistant", content: "It is said.", message_id: "answer" }),
    );
    const rest = page.waitForResponse(/\/exchanges\?/);
    store(undefined);
    await rest;
    await nextFrames(page);
    // whatever the page asks for because of it is answered before this
    await page.evaluate(async () => void (await fetch("/livez")));
    await nextFrames(page);
    expect(await answers(page).count()).toBe(1);

    // a tab that is opened now reads the message, and gets from the first one that it is being written
    const other = await world.openPage(`/sessions/${id}`, { context });
    await other.getByText("The agent is").waitFor();
    await nextFrames(other);
    expect(await answers(other).count()).toBe(1);
    await release(page);
    for (const each of [page, other]) {
      await each.locator(".live .message").waitFor({ state: "detached" });
      await answers(each).waitFor();
    }
    await talk.end();
    await context.close();
  });

  it("[TERM-157] is not silent for 2 s while a model thinks for 12 s", async () => {
    const provider = await startThinkingModel();
    const home = freshHome(provider.env);
    const { url, client, service } = await startPageService(home, { folder: home.project });
    const { id } = await client.createSession({ repo_path: home.project });
    await using pages = await openPages(url);
    const page = await pages.openPage(`/sessions/${id}`, { token: PAGE_TOKEN });
    await client.queueExchange(id, "the question");
    await page.getByText("Thinking…").waitFor();
    const see = () => page.locator("main").innerText();
    expect(await longestSilence(see, /The answer\./)).toBeLessThanOrEqual(2000);
    await page.getByText(/^Thought for 1\d/).click();
    await page.getByText("thought 9.").waitFor();
    pages.expectNoProblems();
    await service.stop("SIGTERM");
  });

  it("[PAGE-60] [PAGE-61] opens at the last message, and goes anywhere without moving what is in view", async () => {
    const page = await world.openPage(`/sessions/${long}`);
    await rowAt(page, LONG).waitFor();
    // it stays in view when the window gets lower, as with the keyboard of a phone
    const belowView = (): Promise<number> =>
      page
        .locator(".transcript-scroller")
        .evaluate(
          ({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight,
        );
    for (const height of [600, 450, 800]) {
      await page.setViewportSize({ width: 1280, height });
      await expect.poll(belowView).toBeLessThan(2);
    }
    for (const step of [-300, -250, -300, -200, 350, -300]) {
      const before = await placesOf(page);
      await page
        .locator(".transcript-scroller")
        .evaluate((scroller, top) => scroller.scrollBy({ top, behavior: "instant" }), step);
      await expect
        .poll(async () => {
          const after = await placesOf(page);
          const moves = Object.keys(after).flatMap((seq) =>
            before[seq] === undefined ? [] : [(after[seq] ?? 0) - before[seq]],
          );
          return moves.length > 0 && moves.every((move) => Math.abs(move + step) < 2);
        })
        .toBe(true);
    }
    await page.locator(".transcript-scroller").focus();
    await page.keyboard.press("Home");
    // its row: the title of the session has the same words
    await rowAt(page, 1).waitFor();
    await expect.poll(async () => (await placesInView(page))["1"]).toBeGreaterThan(0);
    // what is in view stays while messages arrive, and a button counts them
    let before = {};
    await expect
      .poll(async () => {
        const last = before;
        before = await placesInView(page);
        return isDeepStrictEqual(last, before);
      })
      .toBe(true);
    await world.service.post(long, "A new message");
    await page.getByRole("button", { name: "1 new message" }).waitFor();
    expect(await placesInView(page)).toEqual(before);
    await page.getByRole("button", { name: "1 new message" }).click();
    await page.getByText("A new message").waitFor();
    // at the end, they are followed
    await world.service.post(long, "Another new message");
    await page.getByText("Another new message").waitFor();
    await expect
      .poll(() => page.getByRole("button", { name: /new message|To the end/ }).count())
      .toBe(0);
    // also after a question or a notice has taken most of the window, and with a message in that moment
    const fromEnd = () =>
      page
        .locator(".transcript-scroller")
        .evaluate(({ scrollHeight, scrollTop, clientHeight }) =>
          Math.floor(scrollHeight - scrollTop - clientHeight),
        );
    await page.setViewportSize({ width: 1280, height: 400 });
    await world.service.post(long, "A message in a low window");
    await page.getByText("A message in a low window").waitFor();
    await expect.poll(fromEnd).toBe(0);
    await page.context().close();
  });

  it("[PAGE-63] [PAGE-67] shows an answer while it is written, and what its exchange does", async () => {
    const { id, talk } = await newTalk("How is the weather?");
    const page = await world.openPage(`/sessions/${id}`);
    await page.getByText("The agent is working").waitFor();
    talk.say("answer", "## It is **sunny**\n\n- warm\n");
    await page.getByRole("heading", { name: "It is sunny" }).waitFor();
    await page.getByText("The agent is answering").waitFor();
    talk.say("answer", "- and dry\n\n```ts\nconst a: number = 1;\n```\n");
    await page.getByText("and dry").waitFor();
    await page.locator(".code-keyword").first().waitFor();
    await keepPicture(page, "session-live");
    talk.hear({
      type: "retry",
      message_id: "answer",
      attempt: 2,
      code: "model_rate_limited",
      reason: "the model is overloaded",
      delay_ms: 60_000,
    });
    await page.getByText(/^Retrying \(2 of 3\) in \d+ s: the model is overloaded$/).waitFor();
    await page.getByText("and dry").waitFor({ state: "detached" });
    talk.say("again", "It is *raining*.");
    await page.locator(".growing em, .live em").getByText("raining").waitFor();
    await talk.store(
      storedMessage({ role: "assistant", content: "It is *raining*.", message_id: "again" }),
    );
    await rowAt(page, 2).getByText("raining").waitFor();
    expect(await page.locator(".live .message").count()).toBe(0);
    await talk.end({ code: "agent_failed", sentence: "The agent did not answer." });
    await page
      .getByText("This exchange failed (agent_failed): The agent did not answer.")
      .waitFor();
    await page.context().close();
  });

  it("[PAGE-62] [PAGE-216] shows calls that run and their results, and groups those that read", async () => {
    const { id, talk } = await newTalk("Fix the tests");
    const page = await world.openPage(`/sessions/${id}`);
    const read = (n: number) => ({ id: `r${n}`, name: "read_file", args: { path: `src/${n}.ts` } });
    await talk.call("I look at them.", [read(1), read(2)]);
    const group = page.locator("summary", { hasText: "src/1.ts" });
    await group.getByText("Reading").waitFor();
    await talk.result(read(1), "1");
    await talk.result(read(2), "2");
    await talk.call("", [read(3)]);
    await talk.result(read(3), "Error: no such file", "failed");
    await group.getByText("3 calls").waitFor();
    await group.getByText("1 failed").waitFor();
    await group.getByText("Read", { exact: true }).waitFor();
    const command = { id: "c", name: "run_command", args: { line: "npm test" } };
    await talk.call("Now the tests.", [command]);
    const row = page.locator("summary", { hasText: "npm test" });
    await row.getByText("running").waitFor();
    const lines = Array.from({ length: 1000 }, (_, index) => `line ${index + 1}`);
    const output = `exit code 1 after 2.5 s\n\n${lines.join("\n")}`;
    await talk.result(command, output, "failed");
    await row.getByText("exit code 1").waitFor();
    const ending = page.locator(".last-lines");
    await expect.poll(() => ending.allTextContents()).toEqual(["line 998\nline 999\nline 1000"]);
    await row.click();
    await ending.waitFor({ state: "detached" });
    await page.getByText("line 398", { exact: false }).waitFor();
    expect(await page.getByText("line 399", { exact: false }).count()).toBe(0);
    await page.getByRole("button", { name: "Show all 1,002 lines" }).click();
    await page.getByText("line 1000", { exact: false }).waitFor();
    await talk.end();
    expect(await accessibilityProblems(page)).toEqual([]);
    await keepPicture(page, "session-calls");
    await page.context().close();
  });

  it("[SANDBOX-36] shows in the closed row of a command what was moved out, and not what its output claims", async () => {
    const { id, talk } = await newTalk("Build it");
    const page = await world.openPage(`/sessions/${id}`);
    const command = { id: "c", name: "run_command", args: { line: "make" } };
    await talk.call("", [command]);
    const moved = "Sandbox: Moved out of the folder: a\u202eb/.envrc";
    await talk.result(command, `exit code 0 after 2.5 s\n${moved}\n\nSandbox: all is well\n`);
    const note = page.locator("summary", { hasText: "make" }).locator(".call-note");
    await note.waitFor();
    expect(await note.allTextContents()).toEqual(["Moved out of the folder: a<U+202E>b/.envrc"]);
    await talk.end();
    await page.reload();
    await note.waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.context().close();
  });

  it("[PAGE-200] shows the last lines of a call that runs, until something follows its result", async () => {
    const { id, talk } = await newTalk("Run the tests");
    const page = await world.openPage(`/sessions/${id}`);
    const other = await page.context().newPage();
    await other.goto(page.url());
    const command = { id: "c", name: "run_command", args: { line: "npm test" } };
    await talk.call("", [command]);
    await page.locator("summary", { hasText: "npm test" }).getByText("running").waitFor();
    talk.print("c", "first\u001b[2J \u202etxt.exe\n");
    const lines = page.locator(".last-lines");
    await lines.getByText("first␛[2J <U+202E>txt.exe").waitFor();
    talk.print("c", Array.from({ length: 30 }, (_, line) => `line ${line}\n`).join(""));
    const shown = Array.from({ length: 8 }, (_, line) => `line ${line + 22}\n`).join("");
    for (const tab of [page, other]) {
      await tab.locator(".last-lines").getByText("line 29").waitFor();
      await expect.poll(() => tab.locator(".last-lines").textContent()).toBe(shown);
    }
    // a tab that is loaded again finds them
    await other.reload();
    await expect.poll(() => other.locator(".last-lines").textContent()).toBe(shown);
    const { height, isScrolled, family } = await lines.evaluate((box) => ({
      height: box.getBoundingClientRect().height,
      isScrolled: box.scrollHeight > box.clientHeight + 1,
      family: getComputedStyle(box).fontFamily,
    }));
    expect([isScrolled, family]).toEqual([false, expect.stringContaining("monospace")]);
    expect(await lines.getAttribute("aria-live")).toBe("off");
    expect(await accessibilityProblems(page)).toEqual([]);
    await keepPicture(page, "session-output");
    await talk.result(command, "exit code 0 after 2.5 s\n\nall is well\n");
    await page.locator("summary", { hasText: "npm test" }).getByText("1.2 s").waitFor();
    // nothing moves yet
    expect(await lines.evaluate((box) => box.getBoundingClientRect().height)).toBe(height);
    await talk.store(storedMessage({ role: "assistant", content: "All is well." }));
    await page.getByText("All is well.").waitFor();
    expect(await lines.count()).toBe(0);
    await talk.end();
    await page.context().close();
  });

  it("[PAGE-200] keeps the last lines of a call that was stopped in the tabs that saw them", async () => {
    const { id, talk } = await newTalk("Run it");
    const page = await world.openPage(`/sessions/${id}`);
    await talk.call("", [{ id: "c", name: "run_command", args: { line: "make" } }]);
    talk.print("c", "half done\n");
    await page.locator(".last-lines").getByText("half done").waitFor();
    await talk.end({ code: "agent_failed", sentence: "Somebody stopped it." });
    await page.getByText("Somebody stopped it.").waitFor();
    expect(await page.locator(".last-lines").textContent()).toBe("half done\n");
    await page.reload();
    await page.getByText("Somebody stopped it.").waitFor();
    expect(await page.locator(".last-lines").count()).toBe(0);
    await page.context().close();
  });

  it("[PAGE-66] goes to the call of a result that a link names", async () => {
    const { id: session_id } = await world.store.write(createSession, {});
    const fill = Array.from({ length: 60 }, (_, n) =>
      storedMessage({ role: n % 2 === 0 ? "user" : "assistant", content: `filler ${n}` }),
    );
    const call = { id: "c", name: "read_file", args: { path: "a" }, effect: null, subject: null };
    const messages = [
      ...fill,
      storedMessage({ role: "assistant", content: "I read it.", tool_calls: [call] }),
      storedMessage({ role: "tool", content: "its text", call_id: "c" }),
      ...fill.map((message) => ({ ...message, message_id: `${message.message_id} again` })),
    ];
    await world.store.write(mirrorMessages, { session_id, messages });
    const page = await world.openPage(`/sessions/${session_id}#m62`);
    await page.waitForFunction(() => {
      const top = document.querySelector(".transcript-scroller")?.getBoundingClientRect().top;
      const row = document.querySelector('.row:has([data-seq="61"])')?.getBoundingClientRect();
      return row !== undefined && top !== undefined && Math.abs(row.top - top) < 5;
    });
    await page.context().close();
  });

  it("[PAGE-66] [PAGE-68] goes to messages by the keyboard and by their links", async () => {
    const page = await world.openPage(`/sessions/${long}#m1500`);
    await rowAt(page, 1500).waitFor();
    await rowAt(page, 1500).focus();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("data-seq"))).toBe(
      "1501",
    );
    for (let step = 0; step < 40; step += 1) {
      await page.keyboard.press("j");
      await page.waitForFunction(
        (seq) => document.activeElement?.getAttribute("data-seq") === String(seq),
        1502 + step,
      );
    }
    await page.keyboard.press("End");
    await rowAt(page, LONG).waitFor();
    await page.context().close();
  });

  it("[TASKS-10] shows the agent's list while something of it is to be done", async () => {
    const { id, talk } = await newTalk("Do it all");
    const page = await world.openPage(`/sessions/${id}`, { width: 320, height: 640 });
    const update = async (call_id: string, states: readonly string[]): Promise<void> => {
      const texts = ["<img src=x onerror=alert(1)>\u202e", "fix the rounding", "run the tests"];
      const tasks = states.map((state, at) => ({ text: texts[at], state }));
      const call = { id: call_id, name: "update_tasks", args: { tasks } };
      await talk.call("", [call]);
      await talk.result(call, "The user sees the list.");
    };
    await update("one", ["done", "running", "pending"]);
    const list = page.locator("details.tasks");
    await list.getByText("Tasks of the agent: 1 of 3 done").waitFor();
    expect(await list.getByRole("listitem").allTextContents()).toEqual([
      "✓ <img src=x onerror=alert(1)><U+202E> (done)",
      "▸ fix the rounding (running)",
      "◦ run the tests (pending)",
    ]);
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.reload();
    await list.waitFor();
    await update("two", ["done", "done", "done"]);
    await list.waitFor({ state: "detached" });
    await talk.end();
    await page.context().close();
  });

  it("[PAGE-69] shows hostile text as text, and right-to-left text on its own", async () => {
    const { id, talk } = await newTalk("<img src=x onerror=alert(1)> \u202eabc");
    const evil = `<script>alert(1)</script>"><svg onload=alert(1)> \u05d0\u05d1\u05d2 \u202e`;
    await talk.call(`${evil}\n\n![x](https://example.invalid/a.png) [b](javascript:alert(1))`, [
      { id: evil, name: evil, args: { path: evil, evil } },
    ]);
    await talk.store(storedMessage({ role: "assistant", content: evil, is_summary: true }));
    const page = await world.openPage(`/sessions/${id}`, { width: 320, height: 640 });
    for (const summary of await page.locator(".folded > summary").all()) {
      await summary.click();
    }
    await page.getByText("<script>alert(1)</script>").first().waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
      320,
    );
    expect(await page.locator("main img, main script, main svg[onload]").count()).toBe(0);
    await talk.end();
    await page.context().close();
  });

  it("[PAGE-69] stays usable with messages and calls that are as large as they can be", async () => {
    const { id, talk } = await newTalk("Large ones");
    const size = 1024 * 1024 - 100;
    await talk.store(
      storedMessage({ role: "assistant", content: "*a **b _c [d ".repeat(size / 13) }),
    );
    await talk.store(storedMessage({ role: "user", content: "\u202ex".repeat(size / 4) }));
    await talk.call(
      "",
      Array.from({ length: 3000 }, (_, n) => ({
        id: `c${n}`,
        name: n % 2 === 0 ? "run_command" : "x".repeat(2000),
        args: { line: "y".repeat(n === 0 ? size : 10) },
      })),
    );
    talk.say("answer", "*a **b ".repeat(20_000));
    const page = await world.openPage(`/sessions/${id}`);
    await rowAt(page, 4).waitFor();
    await page.getByRole("button", { name: "Show 2,900 more calls" }).waitFor();
    await page.locator(".live .message").waitFor();
    for (const seq of [3, 2]) {
      await page.locator(".transcript-scroller").focus();
      await page.keyboard.press("Home");
      await rowAt(page, seq).waitFor({ state: "attached" });
    }
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(1280);
    await talk.end();
    await page.context().close();
  });

  it("[PAGE-66] shows archived messages if they are asked for, and what else the session is", async () => {
    const { id, talk } = await newTalk("Before the end");
    await talk.end();
    await world.store.write(startThread, { id, archive: true });
    await talk.begin("After it");
    const task = "Look at the prices of the shop, one after another, please";
    const delegate = { id: "d", name: "delegate", args: { persona: "reviewer", task } };
    await talk.call("I ask another one.", [delegate]);
    const child = await world.store.write(createSession, { parent_session_id: id, depth: 1 });
    await createTalk(world.store, feed, child.id).begin(task);
    const page = await world.openPage(`/sessions/${id}`);
    await rowAt(page, 2).waitFor();
    expect(await rowAt(page, 1).count()).toBe(0);
    await page.locator("summary", { hasText: "Delegat" }).click();
    await page
      .locator(".folded-body")
      .getByRole("link", { name: /^Look at the prices/ })
      .waitFor();
    await page.getByRole("button", { name: "Show archived messages" }).click();
    await rowAt(page, 1).getByText("archived").waitFor();
    await talk.result(delegate, "All is well.");
    await talk.end();
    await page.locator(".session-facts").click();
    await page.getByRole("row", { name: /^2 done/ }).waitFor();
    await page.locator(".sub-agents a").waitFor();
    await page.getByRole("button", { name: "Compare the messages with the checkpoints" }).click();
    await page.getByText("The messages are not those of the checkpoints.").waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.goto(page.url().replace(/#.*|$/, "#m1"));
    await rowAt(page, 1).waitFor();
    await page.context().close();
  });

  it("[COST-17] shows what the session and its exchanges have cost", async () => {
    const { id, talk } = await newTalk("How much is it?");
    const priced = (price_micros: number | null) => ({
      ...NO_COUNTS,
      model: "openai:gpt-test",
      price_micros,
      price_table: price_micros === null ? null : "config",
      ended: "whole" as const,
      call: price_micros === null ? 2 : 1,
    });
    const calls = [priced(123_456), priced(null)];
    const fence = { session_id: id, epoch: 1 };
    await world.store.write((tx) => storeCalls(tx, fence, { n: 1, calls }), null);
    const page = await world.openPage(`/sessions/${id}`);
    await page.locator(".session-facts").getByText("at least $0.12").waitFor();
    const more = [{ ...priced(1_000_000), call: 3 }];
    await world.store.write((tx) => storeCalls(tx, fence, { n: 1, calls: more }), null);
    await talk.end();
    await page.locator(".session-facts").getByText("at least $1.12").waitFor();
    await page.locator(".session-facts").click();
    await page.getByRole("row", { name: /^1 done .* at least \$1\.12/ }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.context().close();
  });

  it("[COST-17] shows the cost of an exchange that ends while the page reads the session", async () => {
    const { id, talk } = await newTalk("How much is it in the end?");
    const fence = { session_id: id, epoch: 1 };
    const call = {
      ...NO_COUNTS,
      model: "openai:gpt-test",
      price_table: "config",
      call: 1,
    } as const;
    const calls = [{ ...call, price_micros: 123_456, ended: "whole" as const }];
    const context = await world.newContext();
    const exchanges = Promise.withResolvers<void>();
    // the session is read before the end, its exchanges and its feed after it
    await context.route(
      /\/exchanges\?/,
      async (route) => {
        await world.store.write((tx) => storeCalls(tx, fence, { n: 1, calls }), null);
        await talk.end();
        await route.fulfill({ response: await route.fetch() });
        exchanges.resolve();
      },
      { times: 1 },
    );
    await context.route(/\/live/, async (route) => {
      await exchanges.promise;
      await route.continue();
    });
    const page = await world.openPage(`/sessions/${id}`, { context });
    await page.locator(".session-facts").getByText("$0.12").waitFor();
    await context.close();
  });

  it("[PAGE-67] says that the session has ended, or was deleted", async () => {
    const { id, talk } = await newTalk("A short one");
    await talk.end();
    const page = await world.openPage(`/sessions/${id}`);
    await page.getByText("A short one").first().waitFor();
    await world.service.call("POST", `/api/sessions/${id}/end`);
    await page.getByText("This session has ended.").waitFor();
    await page.locator(".session-head .state.ended").waitFor();
    await page.goto(page.url().replace(id, "00000000-0000-4000-8000-000000000000"));
    await page.getByText("There is no such session").waitFor();
    await page.context().close();
  });
});
