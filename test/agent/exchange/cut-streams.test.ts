import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";

import { expect, it, onTestFinished, vi } from "vitest";

import { createExchanger } from "../../../src/agent/exchange.ts";
import { isRepriseError } from "../../../src/core/errors.ts";
import { modelConfig } from "../../../src/rules/models/config.ts";
import { readMessagesAfter } from "../../../src/store/records/messages/read.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { openBench } from "../../helpers/exchanger.ts";
import { openAiAs } from "../../helpers/openai-as.ts";
import { eventsOf } from "../../helpers/providers/cut-stream.ts";
import { CHAT_SERVERS } from "../../helpers/providers/openai/chat-quirks.ts";
import { type ProviderOptions, startProvider } from "../../helpers/providers/start.ts";
import { reasoning, type Step, text } from "../../helpers/providers/steps.ts";
import { randomOf, seedOf } from "../../helpers/random.ts";
import { callsOf } from "../../helpers/sessions/model-calls.ts";
import { testSize } from "../../helpers/size.ts";

const APIS = {
  anthropic: { provider: "anthropic", model: "claude-opus-5-5", api: "chat", options: {} },
  responses: { provider: "openai", model: "gpt-6.1", api: "responses", options: {} },
  chat: {
    provider: "openai",
    model: "deepseek-reasoner",
    api: "chat",
    options: { quirks: CHAT_SERVERS.deepseek },
  },
  "chat that counts in every piece": {
    provider: "openai",
    model: "qwen3",
    api: "chat",
    options: { quirks: { countsAlways: true } },
  },
  ollama: { provider: "ollama", model: "qwen3", api: "chat", options: {} },
} as const satisfies Record<string, { readonly options: ProviderOptions; [name: string]: unknown }>;

const TEXT = "I write the file.";
const FIRST: readonly Step[] = [
  reasoning("A file is to be written."),
  text("I write "),
  text("the file."),
  { kind: "call", name: "write_file", args: '{"path":"a.txt","content":"x"}', size: 12 },
];
const WRITTEN = [reasoning("It is there."), text("Written.")];
const live = { listener: () => undefined, signal: new AbortController().signal };

interface Cut extends Omit<Extract<Step, { readonly kind: "cut_at" }>, "kind"> {
  /** Each attempt is cut, not only the first one. */
  readonly isEach: boolean;
}

/** An agent whose provider writes a file, says so, and cuts its first answer. */
async function openCut(name: keyof typeof APIS) {
  const { provider: kind, model, api, options } = APIS[name];
  let cut: Cut | null = null;
  const provider = await startProvider(
    kind,
    (_index, body) => {
      if (body.includes("and now?")) {
        return [reasoning("Nothing more."), text("No more.")];
      }
      if (body.includes("created a.txt")) {
        return WRITTEN;
      }
      const steps = cut === null ? FIRST : [...FIRST, { kind: "cut_at", ...cut } as const];
      cut = cut?.isEach === true ? cut : null;
      return steps;
    },
    options,
  );
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const env = { ...provider.env, REPRISE_MODEL: `${kind}:${model}` };
  const models = { ...modelConfig(env, openAiAs(api)), retryDelayMs: 1 };
  const { store, parts, repo } = await openBench({ env: () => env }, env, { models });
  const exchanger = createExchanger(parts);
  const say = async (session_id: string, words: string): Promise<string> => {
    try {
      return (await exchanger.exchange({ session_id, text: words }, live)).state;
    } catch (error) {
      if (isRepriseError(error)) {
        return error.code;
      }
      throw error;
    }
  };
  const rows = async (session_id: string): Promise<readonly string[]> => {
    const after = { session_id, after_seq: 0, all: true, limit: 100 };
    const found = await store.read(readMessagesAfter, after);
    return found.map(({ role, content }) => `${role}: ${content}`);
  };
  return {
    provider,
    say,
    rows,
    calls: (id: string) => callsOf(store, id),
    findings: async (id: string) => (await verifySession(store, id)).findings,
    hasWritten: () => existsSync(join(repo, "a.txt")),
    begin: async (next: Cut | null): Promise<string> => {
      cut = next;
      rmSync(join(repo, "a.txt"), { force: true });
      return (await store.write(createSession, { repo_path: repo, permission: "all" })).id;
    },
  };
}

/** Every cut of a stream, those between two events first and then in turn with those within one. */
function cutsOf(stream: string, random: () => number): Cut[] {
  const events = eventsOf(stream);
  const between: Cut[] = [];
  const within: Cut[] = [];
  for (const how of ["end", "reset"] as const) {
    for (const isEach of [false, true]) {
      for (const [event, { length }] of events.entries()) {
        between.push({ event, characters: 0, how, isEach });
        for (let characters = 1; characters < length; characters += 1) {
          within.push({ event, characters, how, isEach });
        }
      }
    }
  }
  shuffle(between, random);
  shuffle(within, random);
  return within.flatMap((one, at) => [...between.slice(at, at + 1), one]);
}

function shuffle(list: unknown[], random: () => number): void {
  for (let at = list.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [list[at], list[other]] = [list[other], list[at]];
  }
}

const WHOLE = [
  "user: write",
  `assistant: ${TEXT}`,
  "tool: created a.txt (1 bytes)",
  "assistant: Written.",
];
const LAST = ["user: and now?", "assistant: No more."];

it.each(Object.keys(APIS) as (keyof typeof APIS)[])(
  "[ANSWER-50] [COST-40] %s: a stream that is cut anywhere ends no answer, is stored once, and leaves a session that its provider takes",
  async (name) => {
    const random = randomOf(seedOf("cut-streams"));
    const bench = await openCut(name);
    const { provider, say, rows } = bench;
    const first = await bench.begin(null);
    expect(await say(first, "write")).toBe("done");
    expect(await rows(first)).toEqual(WHOLE);
    const counted = (await bench.calls(first))[0]!;
    const printed = vi.spyOn(console, "warn");
    onTestFinished(() => printed.mockRestore());

    for (const cut of cutsOf(provider.received[0]!.sent, random).slice(
      0,
      testSize("cut-streams"),
    )) {
      const before = provider.received.length;
      const id = await bench.begin(cut);
      const story = `${JSON.stringify(cut)}, seed in the output`;
      const state = await say(id, "write");
      const stored = await rows(id);
      const isDone = !cut.isEach || provider.received.slice(before).length === 2;
      if (isDone) {
        expect([state, ...stored], story).toEqual(["done", ...WHOLE]);
      } else {
        expect(state, story).toMatch(/^model_(?:unreachable|failed|overloaded)$/);
        expect(bench.hasWritten(), story).toBe(false);
        const [asked, half, ...more] = stored;
        expect([asked, ...more], story).toEqual(["user: write"]);
        expect(`assistant: ${TEXT}`.startsWith(half ?? ""), story).toBe(true);
      }
      expect(await say(id, "and now?"), story).toBe("done");
      expect(await rows(id), story).toEqual([...stored, ...LAST]);
      expect(provider.refusals(), story).toEqual([]);
      expect(await bench.findings(id), story).toEqual([]);

      const calls = await bench.calls(id);
      const ends = calls.map(({ ended }) => ended);
      expect(new Set(ends.slice(0, isDone ? -3 : -1)).size, story).toBeLessThan(2);
      for (const call of calls.filter(({ ended }) => ended !== "whole")) {
        expect(call.ended, story).toBe("failed");
        expect([null, counted.input], story).toContain(call.input);
        expect([null, counted.output], story).toContain(call.output);
        expect([null, counted.reasoning], story).toContain(call.reasoning);
        // a model of this machine costs nothing
        const isKnown = call.output !== null || name === "ollama";
        expect(call.price_micros === null || isKnown, story).toBe(true);
      }
    }
    expect(printed).not.toHaveBeenCalled();
  },
);
