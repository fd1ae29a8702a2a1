import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { createExchanger } from "../../../src/agent/exchange.ts";
import { PREFIX_CHANNEL, type Prefix } from "../../../src/agent/prefix/prefix.ts";
import { threadId } from "../../../src/core/threads.ts";
import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import { isRepriseError } from "../../../src/core/errors.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { setPlanMode, switchModel } from "../../../src/store/records/sessions/change.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { dyingStore } from "../../helpers/dying-store.ts";
import type { Received } from "../../helpers/providers/server.ts";
import { call, reasoning, type Step, text } from "../../helpers/providers/steps.ts";
import { randomOf, seedOf } from "../../helpers/random.ts";
import { testSize } from "../../helpers/size.ts";
import { openBound } from "./bound-bench.ts";
import { contentOf, type MessagesBody } from "../../helpers/providers/claude/request.ts";
import { breaksIn, hasResult, isSummaryRequest, partsOf } from "./requests.ts";

const STEPS = 12;
const MODELS = [
  "claude-opus-5-5",
  "claude-fable-5-1",
  "claude-fable-5-2",
  "claude-sonnet-5",
  "claude-haiku-5-5",
];
const ACTS = [
  "say",
  "say",
  "call",
  "call",
  "delegate",
  "plan",
  "instructions",
  "compact",
  "switch",
  "switch",
  "stop",
  "break",
  "die",
  "die",
] as const;

it("[PREFIX-4] [PREFIX-1] [SWITCH-2] whatever happens to a thread, each request adds to the one before or begins a prefix, and none is refused", async () => {
  const seed = seedOf("prefix-lives");
  let way: "stop" | "break" | null = null;
  let stop = new AbortController();
  let random = randomOf(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  let calls = 0;
  const script = (_index: number, body: string): readonly Step[] => {
    if (isSummaryRequest(body)) {
      return [text("SUMMARY")];
    }
    const happens = way;
    way = null;
    const thought = reasoning(pick(["", "Hm. ", "“ü” 🙂 "]).repeat(1 + Math.floor(random() * 3)));
    if (happens === "stop") {
      return [
        thought,
        text("half"),
        { kind: "wait", until: async () => stop.abort() },
        text(" an answer"),
      ];
    }
    if (happens === "break") {
      return [thought, text("half"), { kind: "drop" }];
    }
    if (hasResult(body) || /"(say|task) \d+/.test(lastTextOf(body))) {
      return [thought, text(`answer ${calls}`)];
    }
    calls += 1;
    return lastTextOf(body).startsWith('"delegate')
      ? [
          thought,
          call("delegate", { persona: "assistant", task: `task ${calls}` }),
          reasoning("And."),
          call("list_files", { path: "." }),
        ]
      : [
          thought,
          call("list_files", { path: "." }),
          thought,
          call("write_file", { path: `f${calls}`, content: "x" }),
        ];
  };
  const counted = { exchanges: 0, requests: 0, prefixes: 0, dead: 0, switches: 0, unread: 0 };
  const model = { now: MODELS[0]! };
  const bench = await openBound(script, {}, {});
  const { provider, store, parts, repo } = bench;
  const saver = createCheckpointSaver({ store });
  /** 1 if the session has another model now; one that asks or runs elsewhere keeps its own. */
  const switched = async (id: string, name: string): Promise<number> => {
    const wanted = { id, model: `anthropic:${name}` };
    try {
      await store.write(switchModel, wanted);
      return 1;
    } catch (error) {
      if (isRepriseError(error, "session_busy")) {
        return 0;
      }
      throw error;
    }
  };
  const instructions = join(repo, "AGENTS.md");

  for (let life = 0; life < testSize("prefix-lives"); life += 1) {
    random = randomOf(seed + life);
    model.now = pick(MODELS);
    rmSync(instructions, { force: true });
    const { id } = await store.write(createSession, {
      repo_path: repo,
      permission: "all",
      model: `anthropic:${model.now}`,
    });
    const story: string[] = [model.now];
    const buried: (() => void)[] = [];
    const begins = provider.received.length;
    const mayBreak = new Set<number>();
    /** Summary of the prefix that was stored before the last summary. */
    let before: string | null | undefined;
    const storedPrefix = async (): Promise<Prefix | undefined> => {
      const tuple = await saver.getTuple({ configurable: { thread_id: threadId(id, 0) } });
      return tuple?.checkpoint.channel_values[PREFIX_CHANNEL] as Prefix | undefined;
    };
    const run = async (text: string | null, given = store): Promise<void> => {
      const stored = await storedPrefix();
      if (stored === undefined || stored.summary === before) {
        // no answer was stored with the prefix that the next request begins, so nothing is bound to it
        mayBreak.add(provider.received.length);
      }
      stop = new AbortController();
      const permission = { allow: [], asks: random() < 0.8 };
      const live = { listener: () => undefined, signal: stop.signal };
      const exchanger = createExchanger({
        ...parts,
        models: { ...parts.models, retries: 0 },
        permission,
        store: given,
      });
      counted.exchanges += 1;
      await exchanger
        .exchange({ session_id: id, text, when_busy: "take_over" }, live)
        .catch((error: unknown) => {
          if (!isRepriseError(error, "model_unreachable", "lease_lost", "nothing_to_continue")) {
            throw error;
          }
        });
    };
    for (let step = 0; step < STEPS; step += 1) {
      const act = pick(ACTS);
      story.push(act);
      way = null;
      if (act === "plan") {
        await store.write(setPlanMode, { id, plan_mode: random() < 0.5 });
      } else if (act === "instructions") {
        writeFileSync(instructions, `Rule ${Math.floor(random() * 3)}.`);
        if (random() < 0.4) {
          rmSync(instructions);
        }
      } else if (act === "compact") {
        await createExchanger(parts)
          .compact({ session_id: id }, { signal: new AbortController().signal })
          .catch((error: unknown) => {
            if (!isRepriseError(error, "exchange_interrupted", "session_busy")) {
              throw error;
            }
          });
        before = (await storedPrefix())?.summary;
      } else if (act === "switch") {
        model.now = pick(MODELS);
        story.push(model.now);
        counted.switches += await switched(id, model.now);
      } else if (act === "die") {
        const dying = dyingStore(store, 1 + Math.floor(random() * 14), pick(["before", "after"]));
        buried.push(() => dying.bury());
        await Promise.race([run(pick(["call 1", "delegate 1"]), dying.store), dying.dead]);
        counted.dead += 1;
      } else {
        way = act === "stop" || act === "break" ? act : null;
        await run(
          random() < 0.2 ? null : `${act === "delegate" || act === "call" ? act : "say"} ${step}`,
        );
      }
    }
    await run("say 99");
    const received = provider.received.slice(begins);
    expect(
      received.flatMap(({ refusal }) => refusal ?? []),
      story.join(),
    ).toEqual([]);
    const dropped = received.flatMap((request) => request.dropped);
    // documented: a model does not read the blocks of some others
    expect(
      dropped.filter(({ reason }) => reason !== "model_binding_mismatch"),
      story.join(),
    ).toEqual([]);
    counted.unread += dropped.length;
    const own = received
      .map((request, at) => ({ ...request, at: begins + at }))
      .filter(
        (request) => !isOfSubAgent(request) && !isSummaryRequest(JSON.stringify(request.body)),
      );
    for (const at of breaksIn(own)) {
      const from = own[at - 1]?.at ?? begins;
      const to = own[at]?.at ?? begins;
      const since = received.slice(from + 1 - begins, to - begins);
      const isSummarised = since.some(({ body }) => isSummaryRequest(JSON.stringify(body)));
      const isUnbound = [...mayBreak].some((index) => index > from && index <= to);
      expect(
        isSummarised || isUnbound || changeBetween(own[at - 1]!, own[at]!),
        `${story.join()}: request ${at} of ${own.length}`,
      ).toBe(true);
      counted.prefixes += 1;
    }
    const last = own.at(-1)?.body as unknown as MessagesBody;
    expect(contentOf(last.system)[0]?.["text"]).toBe((await storedPrefix())?.system);
    counted.requests += received.length;
    expect((await verifySession(store, id)).findings, story.join()).toEqual([]);
    for (const bury of buried) {
      bury();
    }
  }
  console.log("prefix-lives:", JSON.stringify(counted));
  expect(counted.requests).toBeGreaterThan(counted.exchanges / 2);
});

/** The last text of a user in a request, as JSON. */
function lastTextOf(body: string): string {
  const { messages } = JSON.parse(body) as { messages: { role: string; content: unknown }[] };
  const last = messages.findLast(({ role }) => role === "user");
  const { content } = last ?? {};
  return JSON.stringify(
    Array.isArray(content) ? (content as { text?: string }[]).at(-1)?.text : content,
  );
}

function isOfSubAgent(request: Pick<Received, "body">): boolean {
  return partsOf(request).some(
    (part) => /^user .*"task \d+/.test(part) && !part.includes("tool_result"),
  );
}

/** Returns the first part of a request that the next one has in another form. */
function changeBetween(before: Pick<Received, "body">, after: Pick<Received, "body">) {
  const parts = partsOf(after);
  const earlier = partsOf(before);
  const at = earlier.findIndex((part, index) => part !== parts[index]);
  return { at, before: earlier[at], after: parts[at], next: parts[at + 1] };
}
