import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import type { LiveOutput } from "../../../src/core/live/live-state.ts";
import { createFeed, type Feed } from "../../../src/exchange/live/feed.ts";
import { storeLive } from "../../../src/store/records/live/store-live.ts";
import type { Store } from "../../../src/store/store.ts";
import { openBench } from "../../helpers/exchanger.ts";
import { liveOf, liveOnce } from "../../helpers/live.ts";
import {
  type ModelAnswer,
  type SentMessage,
  startModelServer,
} from "../../helpers/model-server.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

interface SeenOutputs {
  readonly at: number;
  readonly outputs: readonly LiveOutput[];
}

function runs(line: string, id = "c1"): ModelAnswer {
  return { toolCalls: [{ id, name: "run_command", arguments: JSON.stringify({ line }) }] };
}

/** The model makes the calls of `steps`, one answer each, and then ends. Readers of the process note what they see. */
async function benchOf(steps: readonly ModelAnswer[]) {
  const server = await startModelServer({
    answer: (messages: readonly SentMessage[]) =>
      steps[messages.filter(({ role }) => role === "assistant").length] ?? { content: "end" },
  });
  const writes = { count: 0 };
  let feed: Feed | null = null;
  const commands = { env: { PATH: process.env["PATH"] }, outputFolder: temporaryFolder() };
  const bench = await openBench(server, {}, (store) => {
    const write: Store["write"] = (operation, input) => {
      writes.count += Object.is(operation, storeLive) ? 1 : 0;
      return store.write(operation, input);
    };
    feed = createFeed({ store: { ...store, write } });
    return { commands, feed };
  });
  const opened: Feed = feed ?? createFeed(bench);
  onTestFinished(() => opened.close());
  const seen: SeenOutputs[] = [];
  opened.subscribe(bench.session.id, () => {
    const outputs = opened.current(bench.session.id)?.state.outputs ?? [];
    if (outputs !== seen.at(-1)?.outputs) {
      seen.push({ at: performance.now(), outputs });
    }
  });
  const other = await openStoreAt(bench.database);
  onTestFinished(() => other.close());
  return { ...bench, other, seen, writes, file: (name: string) => join(bench.repo, name) };
}

describe("what a command prints while it runs", () => {
  it("[LIVE-80] [LIVE-82] reaches readers of the process and of others, whole lines at a time, until its result", async () => {
    const line = [
      String.raw`printf 'one\n\033[31mtwo\303'`,
      "until [ -e more ]; do sleep 0.02; done",
      String.raw`printf '\251\nlast'`,
      "until [ -e go ]; do sleep 0.02; done",
      "echo ' line'",
    ].join("; ");
    const bench = await benchOf([runs(line)]);
    const { id } = bench.session;
    const running = bench.run({ text: "go" });
    const outputsOnce = async (text: string) => {
      const found = await liveOnce(
        bench.other,
        id,
        ({ live }) => live?.state.outputs?.some((output) => output.text.endsWith(text)) === true,
      );
      return found.live?.state.outputs;
    };
    expect(await outputsOnce("one\n")).toEqual([{ call_id: "c1", lines_before: 0, text: "one\n" }]);
    writeFileSync(bench.file("more"), "");
    // part of a character waits for its end, as a line does
    expect(await outputsOnce("é\n")).toEqual([
      { call_id: "c1", lines_before: 0, text: "one\n␛[31mtwoé\n" },
    ]);
    writeFileSync(bench.file("go"), "");
    expect(await running).toMatchObject({ state: "done", answer: "end" });
    const shown = bench.seen.map(({ outputs }) => outputs.map(({ text }) => text).join());
    expect(shown).toContain("one\n");
    expect(shown).toContain("one\n␛[31mtwoé\n");
    expect(shown.at(-1)).toBe("");
    expect(shown.join("")).not.toContain("\ufffd");
    expect((await liveOf(bench.other, id)).live).toBeNull();
    // the stored result is what the program printed, byte for byte
    const { messages } = await liveOf(bench.other, id);
    const result = messages.find(({ role }) => role === "tool");
    expect(result?.content).toContain("one\n\u001b[31mtwoé\nlast line\n");
  });

  it("[LIVE-81] of 100 MB comes at most 4 times a second, and some lines each time", async () => {
    const bench = await benchOf([runs("head -c 100000000 /dev/zero | tr '\\0' 'x' | fold -w 99")]);
    const begun = performance.now();
    const result = await bench.run({ text: "go" });
    expect(result.state).toBe("done");
    const seconds = (performance.now() - begun) / 1000;
    const { seen, writes } = bench;
    // the first one, and those of each second
    const changes = seen.filter(({ outputs }) => outputs.length > 0);
    expect(changes.length).toBeLessThanOrEqual(seconds * 4 + 1);
    expect(writes.count).toBeLessThanOrEqual(seconds * 4 + 2);
    for (const { outputs } of seen) {
      const bytes = outputs.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
      expect(bytes).toBeLessThanOrEqual(4096);
    }
    const last = seen.findLast(({ outputs }) => outputs.length > 0)?.outputs[0];
    expect(last?.lines_before).toBeGreaterThan(1000);
    const tool = result.messages.find(({ role }) => role === "tool");
    expect(tool?.content).toMatch(/^ended after .* it wrote more than \d+ bytes\./);
  });

  it("[LIVE-83] costs nothing for a command that prints nothing, or ends at once", async () => {
    const quiet = await benchOf([runs("true"), runs("until [ -e go ]; do sleep 0.02; done", "c2")]);
    const running = quiet.run({ text: "go" });
    await liveOnce(
      quiet.other,
      quiet.session.id,
      ({ live }) => live?.state.calls.some(({ call_id }) => call_id === "c2") === true,
    );
    const before = quiet.writes.count;
    writeFileSync(quiet.file("go"), "");
    await running;
    expect(quiet.writes.count - before).toBeLessThanOrEqual(1);
    expect(quiet.seen.filter(({ outputs }) => outputs.length > 0)).toEqual([]);
  });

  it("[LIVE-82] is gone for readers when the exchange is stopped", async () => {
    const line = "echo begun; touch there; sleep 1000";
    const bench = await benchOf([runs(line)]);
    const stop = new AbortController();
    const running = bench.run({ text: "go" }, { signal: stop.signal });
    await liveOnce(
      bench.other,
      bench.session.id,
      ({ live }) => live?.state.outputs?.[0]?.text === "begun\n",
    );
    expect(existsSync(bench.file("there"))).toBe(true);
    stop.abort();
    expect((await running).state).toBe("stopped");
    expect((await liveOf(bench.other, bench.session.id)).live).toBeNull();
  });

  it("[LIVE-84] of a sub-agent is shown in its session alone, also if its call has an id of the parent", async () => {
    const line = "echo of the child; until [ -e go ]; do sleep 0.02; done";
    const delegate = JSON.stringify({ persona: "assistant", task: "the task" });
    const server = await startModelServer({
      answer: (messages) => {
        const [first, last] = [messages[0]?.content ?? "", messages.at(-1)?.role];
        if (last === "tool") {
          return { content: "end" };
        }
        return first === "go"
          ? { toolCalls: [{ id: "c1", name: "delegate", arguments: delegate }] }
          : runs(line);
      },
    });
    const feeds: Feed[] = [];
    const commands = { env: { PATH: process.env["PATH"] }, outputFolder: temporaryFolder() };
    const bench = await openBench(server, {}, (store) => {
      const feed = createFeed({ store });
      feeds.push(feed);
      return { commands, feed };
    });
    onTestFinished(() => feeds.forEach((feed) => feed.close()));
    const given: string[] = [];
    const running = bench.run(
      { text: "go" },
      { onOutput: ({ session_id }) => given.push(session_id) },
    );
    const childOnce = async (): Promise<string> => {
      await expect.poll(() => bench.events.some(({ type }) => type === "child")).toBe(true);
      const event = bench.events.find((each) => each.type === "child");
      return event?.type === "child" ? event.child_session_id : "";
    };
    const child = await childOnce();
    const ofChild = await liveOnce(
      bench.store,
      child,
      ({ live }) => (live?.state.outputs?.length ?? 0) > 0,
    );
    expect(ofChild.live?.state.outputs).toEqual([
      { call_id: "c1", lines_before: 0, text: "of the child\n" },
    ]);
    expect(feeds[0]?.current(bench.session.id)?.state.outputs).toEqual([]);
    expect(given).toEqual([child]);
    writeFileSync(join(bench.repo, "go"), "");
    await running;
  });
});
