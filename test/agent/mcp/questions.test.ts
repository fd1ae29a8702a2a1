import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { createExchanger } from "../../../src/agent/exchange.ts";
import { answerQuestion } from "../../../src/store/records/questions/answer.ts";
import { setPlanMode } from "../../../src/store/records/sessions/change.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { fixtureServer, notedIn, openMcp, runningOf } from "../../helpers/mcp.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

type Era = "new" | "old";

/** A session whose model calls the one tool of a server that asks. */
async function openAsking(era: Era, kind: string, asks = true, further: object = {}) {
  const noted = join(temporaryFolder(), "noted");
  // once there is such a file, the hook denies
  const command = `test ! -e '${noted}.denies' || { echo too late >&2; exit 2; }`;
  const bench = await openMcp(
    { desk: { ...fixtureServer("asking.ts", era, kind, noted), ...further } },
    {
      steps: [{ name: "desk__act" }],
      permission: { allow: [], asks },
      hasCommands: true,
      config: { hooks: { PreToolUse: [{ command, match: "mcp__desk__act", sandbox: false }] } },
    },
  );
  const { store, id } = bench;
  return {
    ...bench,
    noted,
    calls: () => notedIn(noted).filter((line) => line === "call").length,
    answers: () => notedIn(noted).flatMap((line) => (line.startsWith("answer") ? [line] : [])),
    /** Answers the one open question and returns its text. */
    reply: async (given: { readonly choice: string } | { readonly text: string }) => {
      const [question, ...others] = await bench.open();
      expect(others).toEqual([]);
      const answer = { reference: id, question: question?.id ?? "", given, note: null } as const;
      await store.write(answerQuestion, { ...answer, answered_by: "http", continues: true });
      return question;
    },
    /** As after a kill: another process continues. */
    inAnother: async () => {
      const other = createExchanger(bench.parts);
      const listener = (event: (typeof bench.events)[number]) => bench.events.push(event);
      const live = { listener, signal: new AbortController().signal };
      return { answer: "", ...(await other.exchange({ session_id: id, text: null }, live)) };
    },
    ends: () =>
      bench.events.flatMap((event) => (event.type === "tool_result" ? [event.status] : [])),
    sound: async () => {
      expect(bench.server.refused()).toEqual([]);
      expect((await verifySession(store, id)).findings).toEqual([]);
    },
  };
}

describe.each<Era>(["new", "old"])("a server's question, in the %s protocol", (era) => {
  it("[MCP-61] [MCP-62] is asked field by field, checked, and answered once", async () => {
    const desk = await openAsking(era, "form");
    expect((await desk.run({ text: "go" })).state).toBe("waiting");
    const first = await desk.reply({ choice: "1" });
    expect(first?.kind).toBe("question");
    expect(first?.text).toMatch(/^The MCP server desk asks, in a call of desk__act/);
    expect(first?.text).toContain("Who are you?");
    expect(first?.choices?.map(({ label }) => label)).toEqual([
      "Answer",
      "Decline: the server gets no answer",
      "Cancel: leave the question",
    ]);
    for (const [given, asked] of [
      [{ text: "A" }, "Your name"],
      [{ text: "Ada" }, "That cannot be used: it has 2 characters at least."],
      [{ text: "-" }, "age"],
      [{ choice: "2" }, "size"],
    ] as const) {
      expect((await desk.run()).state).toBe("waiting");
      expect((await desk.reply(given))?.text).toContain(asked);
    }
    const { answer } = await desk.run();
    expect(answer).toContain("thanks");
    expect(desk.calls()).toBe(1);
    expect(desk.answers()).toHaveLength(1);
    expect(desk.answers()[0]).toContain('"content":{"name":"Ada","size":"large"}');
    expect(desk.answers()[0]?.includes("state 1 \u0000")).toBe(era === "new");
    await desk.sound();
    expect(await runningOf(desk.noted)).toEqual([]);
  });

  it.each([
    ["choice", "2", '"content":{"size":"large"}'],
    ["choice", "3", '"action":"decline"'],
    ["choice", "4", '"action":"cancel"'],
    ["confirm", "1", '"action":"accept"'],
    ["url", "1", '"action":"accept"'],
    ["url", "2", '"action":"decline"'],
  ])("[MCP-61] can be accepted, declined and cancelled (%s, %s)", async (kind, choice, sent) => {
    const desk = await openAsking(era, kind);
    expect((await desk.run({ text: "go" })).state).toBe("waiting");
    const question = await desk.reply({ choice });
    if (kind === "url") {
      expect(question?.text).toContain("https://example.com/in?a=1");
      expect(question?.text).toContain("of example.com");
    }
    await desk.run();
    expect(desk.answers().join()).toContain(sent);
    expect(desk.ends()).toEqual(["ok"]);
  });

  it.each(["password", "thousand", "nested", "insecure", "script"])(
    "[MCP-63] that nobody should answer is declined with a notice (%s)",
    async (kind) => {
      const desk = await openAsking(era, kind);
      expect((await desk.run({ text: "go" })).state).toBe("done");
      // the client itself refuses some of them
      expect(desk.answers().join()).toMatch(/"action":"decline"|-32602|"code"/);
      expect(await desk.open()).toEqual([]);
      expect(desk.notices().join().length).toBeLessThan(500);
    },
  );

  it.each(["escapes", "megabytes"])("[MCP-63] is cleaned and bounded (%s)", async (kind) => {
    const desk = await openAsking(era, kind);
    const { state } = await desk.run({ text: "go" });
    const questions = await desk.open();
    const text = questions.map((question) => JSON.stringify(question)).join();
    expect(text.length).toBeLessThan(10_000);
    // oxlint-disable-next-line no-control-regex -- none may be there
    expect(questions[0]?.text ?? "").not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    if (state === "waiting") {
      await desk.reply({ choice: "1" });
      await desk.run();
    }
    await desk.sound();
  });

  it("[MCP-64] is not offered if nobody can answer", async () => {
    const desk = await openAsking(era, "form", false);
    const { answer, state } = await desk.run({ text: "go" });
    expect(state).toBe("done");
    expect(await desk.open()).toEqual([]);
    expect(answer).toMatch(/nobody can be asked now|thanks undefined/);
  });
});

describe("a server's question and a kill", () => {
  it("[MCP-65] its answer is sent later by another process, in the stateless protocol", async () => {
    const desk = await openAsking("new", "choice");
    expect((await desk.run({ text: "go" })).state).toBe("waiting");
    await desk.reply({ choice: "1" });
    expect((await desk.inAnother()).answer).toContain("thanks");
    expect(desk.calls()).toBe(1);
    expect(desk.ends()).toEqual(["ok"]);
    await desk.sound();
  });

  it("[MCP-65] asks again for each round, whatever was answered before", async () => {
    const desk = await openAsking("new", "twice");
    expect((await desk.run({ text: "go" })).state).toBe("waiting");
    await desk.reply({ choice: "2" });
    expect((await desk.inAnother()).state).toBe("waiting");
    await desk.reply({ choice: "3" });
    expect((await desk.inAnother()).answer).toContain("cancel");
    expect(desk.calls()).toBe(1);
    expect(desk.answers()).toHaveLength(2);
  });

  it("[MCP-66] the outcome is unknown in the protocol before, and the call is not made again", async () => {
    const desk = await openAsking("old", "choice");
    expect((await desk.run({ text: "go" })).state).toBe("waiting");
    await desk.reply({ choice: "1" });
    const { answer } = await desk.inAnother();
    expect(answer).toContain("It may have taken effect or not");
    expect(desk.ends()).toEqual(["unknown"]);
    expect(desk.calls()).toBe(1);
    await desk.sound();
  });

  it.each<[Era, string]>([
    ["new", "choice"],
    ["old", "choice"],
  ])("[MCP-66] a new message leaves it, with an unknown outcome (%s)", async (era, kind) => {
    const desk = await openAsking(era, kind);
    expect((await desk.run({ text: "go" })).state).toBe("waiting");
    await desk.run({ text: "another" }).catch(() => undefined);
    const results = desk.server.requests().at(-1) ?? [];
    expect(JSON.stringify(results)).toContain("Outcome unknown");
    expect(await desk.open()).toHaveLength(1);
    await desk.sound();
  });

  it.each<[what: string, change: (desk: Awaited<ReturnType<typeof openAsking>>) => unknown]>([
    ["its server is not configured any more", (desk) => desk.configure({})],
    [
      "its server has the tool no more",
      (desk) => desk.configure({ desk: fixtureServer("asking.ts", "old", "other", desk.noted) }),
    ],
    [
      "planning mode was turned on meanwhile",
      (desk) => desk.store.write(setPlanMode, { id: desk.id, plan_mode: true }),
    ],
    ["a hook denies it now", (desk) => writeFileSync(`${desk.noted}.denies`, "")],
  ])("[MCP-130] the outcome of a call that had begun is unknown if %s", async (_, change) => {
    const desk = await openAsking("new", "choice");
    expect((await desk.run({ text: "go" })).state).toBe("waiting");
    await desk.reply({ choice: "1" });
    await change(desk);
    expect((await desk.inAnother()).answer).toContain("It may have taken effect or not");
    expect(desk.ends()).toEqual(["unknown"]);
    expect(desk.answers()).toEqual([]);
    await desk.sound();
  });

  it("[MCP-66] a server that ends while it asks leaves an unknown outcome", async () => {
    const desk = await openAsking("old", "dies");
    expect((await desk.run({ text: "go" })).state).toBe("waiting");
    await expect.poll(() => runningOf(desk.noted)).toEqual([]);
    await desk.reply({ choice: "1" });
    expect((await desk.run()).answer).toContain("It may have taken effect or not");
    expect(desk.ends()).toEqual(["unknown"]);
    expect(desk.calls()).toBe(1);
  });

  it("[MCP-66] a server that does not wait for the answer has its result", async () => {
    const desk = await openAsking("old", "impatient");
    expect((await desk.run({ text: "go" })).state).toBe("waiting");
    await expect.poll(() => notedIn(desk.noted)).toContain("left");
    await desk.reply({ choice: "2" });
    expect((await desk.run()).answer).toBe("end: without you");
    expect(desk.calls()).toBe(1);
  });

  it("[MCP-63] a server that asks without end is left", async () => {
    const desk = await openAsking("new", "again");
    let { state, answer } = await desk.run({ text: "go" });
    for (let round = 0; state === "waiting"; round += 1) {
      expect(round).toBeLessThan(50);
      await desk.reply({ choice: "2" });
      ({ state, answer } = await desk.run());
    }
    expect(answer).toContain("asks again and again");
  });

  it("[MCP-63] of many questions at once one is asked, and the others are cancelled", async () => {
    const desk = await openAsking("old", "floods");
    expect((await desk.run({ text: "go" })).state).toBe("waiting");
    expect(await desk.open()).toHaveLength(1);
    const others = () => notedIn(desk.noted).filter((line) => line.startsWith("other"));
    await expect.poll(others).toHaveLength(300);
    expect(new Set(others())).toEqual(new Set(['other {"action":"cancel"}']));
    await desk.reply({ choice: "1" });
    expect((await desk.run()).answer).toContain("thanks");
  });

  it("[MCP-66] of two answers of a server the first counts", async () => {
    const desk = await openAsking("old", "answers_twice");
    expect((await desk.run({ text: "go" })).state).toBe("waiting");
    await desk.reply({ choice: "1" });
    expect((await desk.run()).answer).toContain("thanks");
    expect(desk.ends()).toEqual(["ok"]);
    await desk.sound();
  });

  it("[MCP-66] the time of a person is not the server's, whose answer may come meanwhile", async () => {
    // the server has as long to ask
    const timeout_ms = 2000;
    const desk = await openAsking("old", "late", true, { timeout_ms });
    expect((await desk.run({ text: "go" })).state).toBe("waiting");
    const asked = performance.now();
    await expect.poll(() => performance.now() - asked).toBeGreaterThan(timeout_ms);
    expect(await runningOf(desk.noted)).toHaveLength(1);
    await desk.reply({ choice: "1" });
    expect((await desk.run()).answer).toMatch(/end: (thanks|too late)/);
  });

  it("[MCP-64] a request of another kind is refused", async () => {
    const desk = await openAsking("new", "sampling");
    expect((await desk.run({ text: "go" })).answer).toContain("asks for what it is not offered");
  });
});

describe("a task of a server", () => {
  const done = (noted: string) => writeFileSync(`${noted}.done`, "");

  it("[MCP-70] is asked for until it has ended, with its state as output", async () => {
    const desk = await openAsking("new", "task");
    const run = desk.run({ text: "go" });
    await expect.poll(() => desk.outputs.length).toBeGreaterThan(1);
    done(desk.noted);
    expect((await run).answer).toBe("end: printed");
    expect(desk.outputs[0]).toBe("1 working page 1␛[2J\n");
    expect(desk.calls()).toBe(1);
    expect(notedIn(desk.noted)).toContain("tasks/get t 1");
  });

  it("[MCP-71] is asked for by the process that continues, and the call is not made again", async () => {
    const desk = await openAsking("new", "task");
    const stop = new AbortController();
    const run = desk.run({ text: "go" }, { signal: stop.signal });
    await expect.poll(() => desk.outputs.length).toBeGreaterThan(0);
    stop.abort();
    await run.catch(() => undefined);
    done(desk.noted);
    expect((await desk.inAnother()).answer).toBe("end: printed");
    expect(desk.calls()).toBe(1);
    expect(desk.ends().at(-1)).toBe("ok");
    await desk.sound();
  });

  it("[MCP-72] is cancelled with a stop", async () => {
    const desk = await openAsking("new", "task");
    const stop = new AbortController();
    const run = desk.run({ text: "go" }, { signal: stop.signal });
    await expect.poll(() => desk.outputs.length).toBeGreaterThan(0);
    stop.abort();
    await run.catch(() => undefined);
    expect(notedIn(desk.noted)).toContain("tasks/cancel t 1");
  });

  it("[MCP-70] that fails is a call that failed; one that is forgotten has an unknown outcome", async () => {
    const fails = await openAsking("new", "task_fails");
    done(fails.noted);
    expect((await fails.run({ text: "go" })).answer).toContain("was failed: out of paper␛[2J");
    expect(fails.ends()).toEqual(["failed"]);
    const forgotten = await openAsking("new", "task_forgotten");
    expect((await forgotten.run({ text: "go" })).answer).toContain("Task not found");
    expect(forgotten.ends()).toEqual(["unknown"]);
  });

  it("[MCP-73] can ask a person", async () => {
    const desk = await openAsking("new", "task_asks");
    done(desk.noted);
    expect((await desk.run({ text: "go" })).state).toBe("waiting");
    for (const given of [{ choice: "1" }, { text: "Ada" }, { text: "7" }, { choice: "1" }]) {
      await desk.reply(given);
      await desk.run();
    }
    expect(desk.answers()).toEqual([
      'answer {"who":{"action":"accept","content":{"name":"Ada","age":7,"size":"small"}}}',
    ]);
    expect(desk.calls()).toBe(1);
    expect(desk.ends()).toEqual(["ok"]);
  });
});
