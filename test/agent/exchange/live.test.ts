import { setImmediate } from "node:timers/promises";

import { describe, expect, it, onTestFinished } from "vitest";

import { newId } from "../../../src/core/ids.ts";
import { createFeed, type Feed } from "../../../src/exchange/live/feed.ts";
import type { LiveCurrent } from "../../../src/exchange/live/live-run.ts";
import { createReporter } from "../../../src/exchange/report-events.ts";
import { modelConfig } from "../../../src/rules/models/config.ts";
import { isLiveHint } from "../../../src/store/hints.ts";
import type { LiveSnapshot } from "../../../src/store/records/live/read-live.ts";
import { takeLease } from "../../../src/store/records/leases/lease.ts";
import { storeLive } from "../../../src/store/records/live/store-live.ts";
import type { Store } from "../../../src/store/store.ts";
import { statementsOf } from "../../helpers/count-statements.ts";
import { type Bench, openBench, SENDS_NOTHING_BY_CLOCK } from "../../helpers/exchanger.ts";
import { liveOf, liveOnce, storedPieces } from "../../helpers/live.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import { seededRandom } from "../../helpers/random.ts";
import { startScriptedProvider, type Step } from "../../helpers/scripted-provider.ts";

const text = (words: string): Step => ({ kind: "text", text: words });
const WORDS = ["😀", "👩‍👩‍👧", "e\u0301", "日本", "🇩🇪", "plain ", "\u202e", "\ufffd"];
const NEVER_MS = 3_600_000;

interface LiveBench extends Bench {
  readonly feed: Feed;
  /** The same database through another connection. */
  readonly other: Store;
  /** What readers of the process saw, one for each change. */
  readonly seen: (LiveCurrent | null)[];
}

async function benchOf(
  scripts: readonly (readonly Step[])[],
  { storeMs = 1, changed = (store: Store) => store, parts = {} } = {},
): Promise<LiveBench> {
  const provider = await startScriptedProvider("openai", (index) => scripts[index] ?? []);
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const models = { ...modelConfig(provider.env), retryDelayMs: 1 };
  let feed: Feed | null = null;
  const bench = await openBench({ env: () => provider.env }, provider.env, (store) => {
    feed = createFeed({ store: changed(store), storeMs });
    return { ...parts, models, feed };
  });
  const seen: (LiveCurrent | null)[] = [];
  const opened: Feed = feed ?? createFeed(bench);
  onTestFinished(() => opened.close());
  opened.subscribe(bench.session.id, () => seen.push(opened.current(bench.session.id)));
  const other = await openStoreAt(bench.database);
  onTestFinished(() => other.close());
  return { ...bench, feed: opened, other, seen };
}

function snapshot({ other, session }: LiveBench): Promise<LiveSnapshot> {
  return liveOf(other, session.id);
}

function until(bench: LiveBench, isThere: (found: LiveSnapshot) => boolean): Promise<LiveSnapshot> {
  return liveOnce(bench.other, bench.session.id, isThere);
}

/** A promise for a script to wait for. */
function gate() {
  return Promise.withResolvers<void>();
}

describe("the feed", () => {
  it("[LIVE-1] [LIVE-9] stores and shows only whole characters, wherever a provider cuts its text", async () => {
    const random = seededRandom("whole characters");
    const below = (limit: number): number => Math.floor(random() * limit);
    const answer = Array.from({ length: 60 }, () => WORDS[below(WORDS.length)]).join("");
    const gates = [gate(), gate(), gate()];
    const steps: Step[] = [];
    for (let at = 0, next = 0; at < answer.length; at = next) {
      next = at + 1 + below(3);
      steps.push(text(answer.slice(at, next)));
      const opened = gates[Math.floor((4 * next) / answer.length) - 1];
      if (opened !== undefined) {
        steps.push({ kind: "wait", until: opened.promise });
      }
    }
    const bench = await benchOf([steps]);
    const running = bench.run({ text: "question" });
    for (const [index, { resolve }] of gates.entries()) {
      const min = Math.floor((answer.length * (index + 1)) / 4) - 2;
      const { live } = await until(bench, (found) => (found.live?.text.length ?? 0) >= min);
      expect(answer.startsWith(live?.text ?? "-")).toBe(true);
      expect(live?.text.isWellFormed()).toBe(true);
      for (const piece of await storedPieces(bench.other)) {
        expect(Array.from(answer).slice(piece.position).join("").startsWith(piece.text)).toBe(true);
      }
      resolve();
    }
    expect((await running).answer).toBe(answer);
    for (const current of bench.seen) {
      expect(answer.startsWith(current?.text ?? "")).toBe(true);
    }
    expect(bench.seen.some((current) => current?.text === answer)).toBe(true);
    expect(bench.seen.at(-1)).toBeNull();
    expect(await storedPieces(bench.other)).toEqual([]);
  });

  it("[LIVE-2] shows a reader of another connection the text or the message, at any moment", async () => {
    const words = Array.from({ length: 300 }, (_, index) => text(`word ${index} `));
    const bench = await benchOf([words]);
    const running = bench.run({ text: "question" });
    let longest = 0;
    for (let isOver = false; !isOver;) {
      const { live, messages } = await snapshot(bench);
      const length = live?.text.length || (messages[0]?.content.length ?? 0);
      expect(length).toBeGreaterThanOrEqual(longest);
      longest = length;
      isOver = messages.length > 0;
      await setImmediate();
    }
    expect((await running).answer).toHaveLength(longest);
  });

  it("[LIVE-4] leaves the text of an attempt that is made again out of the next one", async () => {
    const [before, after] = [gate(), gate()];
    const wait = ({ promise }: ReturnType<typeof gate>): Step => ({ kind: "wait", until: promise });
    const bench = await benchOf([
      [text("dropped"), wait(before), { kind: "drop" }],
      [text("the "), wait(after), text("answer")],
    ]);
    const running = bench.run({ text: "question" });
    const first = await until(bench, ({ live }) => live?.text === "dropped");
    before.resolve();
    const second = await until(bench, ({ live }) => live?.text === "the ");
    expect(second.live?.message_id).not.toBe(first.live?.message_id);
    after.resolve();
    expect((await running).answer).toBe("the answer");
    expect((await storedPieces(bench.other)).map((piece) => piece.text)).toEqual(["dropped"]);
    const retry = bench.seen.findIndex((current) => current?.state.retry !== null);
    expect(bench.seen[retry]).toMatchObject({ message_id: null, text: "" });
    expect(bench.seen[retry]?.state.retry).toMatchObject({ attempt: 2, code: "model_unreachable" });
    const { messages } = await snapshot(bench);
    expect(messages.map(({ content }) => content)).toEqual(["the answer"]);
  });

  it("[LIVE-2] keeps the text of an exchange that is stopped as its message", async () => {
    const bench = await benchOf([[text("so far"), { kind: "stall" }]]);
    const stop = new AbortController();
    const running = bench.run({ text: "question" }, { signal: stop.signal });
    await until(bench, ({ live }) => live?.text === "so far");
    stop.abort();
    expect(await running).toMatchObject({ state: "stopped", answer: "so far" });
    const { live, messages } = await snapshot(bench);
    expect(live).toBeNull();
    expect(messages.map(({ content }) => content)).toEqual(["so far"]);
    expect(await storedPieces(bench.other)).toEqual([]);
  });

  it("[LIVE-3] shows nothing more of an exchange whose session somebody has taken over", async () => {
    const held = gate();
    const bench = await benchOf([
      [text("mine"), { kind: "wait", until: held.promise }, text(" no more"), { kind: "stall" }],
    ]);
    const { id: session_id } = bench.session;
    const stop = new AbortController();
    const running = bench.run({ text: "question" }, { signal: stop.signal });
    const { live } = await until(bench, (found) => found.live?.text === "mine");
    const owner = { ...bench.parts.owner, command: "another" };
    const take_over_epoch = live?.attempt ?? 0;
    const taking = { session_id, owner, life_ms: 60_000, take_over_epoch };
    await bench.other.write(takeLease, taking);
    expect((await snapshot(bench)).live).toBeNull();
    expect(bench.feed.current(session_id)?.text).toBe("mine");
    const lost = new Promise<void>((resolve) => {
      bench.feed.subscribe(session_id, () => bench.feed.current(session_id) ?? resolve());
    });
    held.resolve();
    await lost;
    expect((await storedPieces(bench.other)).map((piece) => piece.text)).toEqual(["mine"]);
    stop.abort();
    await expect(running).rejects.toMatchObject({ code: "lease_lost" });
  });

  it("[LIVE-6] runs exchanges although no text can be stored, and stores it once it can be", async () => {
    let isFull = true;
    let failures = 0;
    const held = gate();
    const refusing = (store: Store): Store => ({
      ...store,
      write: (operation, input) => {
        if (isFull && Object.is(operation, storeLive)) {
          failures += 1;
          return Promise.reject(new Error("the disk is full"));
        }
        return store.write(operation, input);
      },
    });
    const script = [text("one "), { kind: "wait", until: held.promise } as const, text("two")];
    const bench = await benchOf([script], { changed: refusing });
    const running = bench.run({ text: "question" });
    while (failures < 3) {
      await setImmediate();
    }
    isFull = false;
    await until(bench, ({ live }) => live?.text === "one ");
    held.resolve();
    expect((await running).answer).toBe("one two");
  });

  it("[LIVE-7] stores nothing of an exchange that is over before its first write", async () => {
    const answer = [text("a "), text("short "), text("one")];
    const parts = SENDS_NOTHING_BY_CLOCK;
    const bench = await benchOf([answer, answer], { storeMs: NEVER_MS, parts });
    const touched: string[] = [];
    bench.store.onCommit((ids) => touched.push(...ids));
    await bench.run({ text: "question" });
    const sent = await statementsOf(() => bench.run({ text: "question" }));
    expect(sent.statements.length, sent.statements.join("\n")).toBeLessThan(60);
    expect(touched.filter(isLiveHint)).toEqual([]);
    expect(bench.seen.map((current) => current?.text)).toContain("a short ");
    expect(await statesOf(bench.other)).toBe(0);
  });

  it("[LIVE-9] shows calls with their results, and what was used so far", async () => {
    const call = { kind: "call", name: "list_files", args: '{"path":"."}', size: 4 } as const;
    const bench = await benchOf([[call], [text("done")]]);
    await bench.run({ text: "question" });
    const states = bench.seen.flatMap((current) => current?.state.calls ?? []);
    expect(states[0]).toMatchObject({ name: "list_files", args: { path: "." }, status: "running" });
    expect(states[0]).toMatchObject({ effect: "reads", subject: "." });
    expect(states.at(-1)).toMatchObject({ status: "ok", duration_ms: expect.any(Number) });
    const revisions = bench.seen.flatMap((current) => current?.revision ?? []);
    expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
  });

  it("[LIVE-9] follows the answer that began last, and shows no arguments that are too long", async () => {
    const bench = await benchOf([]);
    const session_id = newId();
    const { report, live } = createReporter(() => undefined, { session_id, feed: bench.feed });
    const current = () => bench.feed.current(session_id);
    report({ type: "text", message_id: "early", text: "before the record" });
    expect(current()).toBeNull();
    live?.begun({ n: 3, epoch: 7 });
    report({ type: "text", message_id: "a", text: "first" });
    report({ type: "text", message_id: "b", text: "second" });
    report({ type: "text", message_id: "a", text: " more" });
    expect(current()).toMatchObject({ n: 3, attempt: 7, message_id: "b", text: "second" });
    const args = { text: "x".repeat(5000) };
    const facts = { effect: "changes", subject: "a.ts" } as const;
    report({ type: "tool_call", message_id: "b", call_id: "1", name: "write", args, ...facts });
    expect(current()?.state.calls).toMatchObject([
      { call_id: "1", args: null, ...facts, status: "running" },
    ]);
    report({ type: "failed", code: "agent_failed", detail: "" });
    expect(current()).toBeNull();
  });
});

async function statesOf(store: Store): Promise<number> {
  const rows = await store.read(
    ({ db }) => db.selectFrom("live_states").select("n").execute(),
    null,
  );
  return rows.length;
}
