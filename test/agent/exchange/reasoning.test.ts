import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { ArrivingText } from "../../../src/agent/messages/answer-progress.ts";
import { EVENT_REASONING_BYTES, EVENT_REASONING_SIGN_MS } from "../../../src/core/limits.ts";
import type { ExchangeEvent } from "../../../src/exchange/events.ts";
import { createFeed, type Feed } from "../../../src/exchange/live/feed.ts";
import type { LiveCurrent } from "../../../src/exchange/live/live-run.ts";
import { modelConfig } from "../../../src/rules/models/config.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { expectNoDrift } from "../../helpers/compare.ts";
import { agentOptions, type Bench, openBench } from "../../helpers/exchanger.ts";
import { CHAT_SERVERS } from "../../helpers/providers/openai/chat-quirks.ts";
import { openAiAs } from "../../helpers/openai-as.ts";
import { type Provider, startProvider, type ProviderName } from "../../helpers/providers/start.ts";
import { call, reasoning, type Step, text } from "../../helpers/providers/steps.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

interface Api {
  readonly name: string;
  readonly provider: ProviderName;
  readonly model: string;
  readonly api?: "responses" | "chat";
}

const CLAUDE: Api = {
  name: "Claude",
  provider: "anthropic",
  model: "anthropic:claude-sonnet-5-5",
};
const RESPONSES: Api = {
  name: "Responses",
  provider: "openai",
  model: "openai:gpt-6.1-sol",
  api: "responses",
};
const APIS: readonly Api[] = [
  CLAUDE,
  RESPONSES,
  { name: "Chat Completions", provider: "openai", model: "openai:deepseek-v4", api: "chat" },
  { name: "Ollama", provider: "ollama", model: "ollama:qwen3" },
];

interface ThinkingBench {
  readonly bench: Bench;
  readonly provider: Provider;
  /** What readers of the process saw. */
  readonly seen: readonly (LiveCurrent | null)[];
}

async function benchOf(
  { provider: name, model, api = "chat" }: Api,
  answers: readonly (readonly Step[])[],
  personas: { readonly persona?: string } = {},
): Promise<ThinkingBench> {
  const provider = await startProvider(name, (index) => answers[index] ?? [text("done")], {
    quirks: CHAT_SERVERS.deepseek,
  });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const env = { ...provider.env, REPRISE_MODEL: model };
  const models = { ...modelConfig(env, openAiAs(api)), retryDelayMs: 1 };
  const userDir = temporaryFolder();
  mkdirSync(userDir, { recursive: true });
  writeFileSync(
    join(userDir, "talker.md"),
    "---\nname: talker\ndescription: talks\ntools: []\n---\n\nTalk.\n",
  );
  let feed: Feed | null = null;
  const bench = await openBench({ env: () => provider.env }, env, (store) => {
    feed = createFeed({ store, storeMs: 1 });
    return { models, feed, personas: { ...agentOptions(store).personas, userDir } };
  });
  const { persona = null } = personas;
  const session =
    persona === null
      ? bench.session
      : await bench.store.write(createSession, { repo_path: bench.repo, persona_name: persona });
  const opened: Feed = feed ?? createFeed(bench);
  onTestFinished(() => opened.close());
  const seen: (LiveCurrent | null)[] = [];
  opened.subscribe(session.id, () => seen.push(opened.current(session.id)));
  const run: Bench["run"] = (request = {}, live = {}) =>
    bench.run({ session_id: session.id, ...request }, live);
  return { bench: { ...bench, session, run }, provider, seen };
}

/** Events that hold something of an answer, in order, joined. */
function arrivals(events: readonly ExchangeEvent[]): string[] {
  const all: string[] = [];
  let last = "";
  for (const event of events) {
    const isPiece = event.type === "reasoning" || event.type === "text";
    const kind = isPiece ? `${event.type}: ` : event.type === "tool_call" ? "call: " : "";
    const words = isPiece ? event.text : event.type === "tool_call" ? event.name : "";
    if (kind !== "" && kind === last) {
      all.push(`${all.pop()}${words}`);
    } else if (kind !== "") {
      all.push(`${kind}${words}`);
    }
    last = kind === "" ? last : kind;
    last = event.type === "message" ? "" : last;
  }
  return all;
}

async function contents(bench: Bench): Promise<string[]> {
  const rows = await expectNoDrift(bench.database, bench.session.id);
  return rows.map(({ content }) => content);
}

describe.each(APIS)("reasoning of $name", (api) => {
  it("[EVENT-23] is reported before text and calls, and is in no text, message or answer", async () => {
    const { bench, provider, seen } = await benchOf(api, [
      [reasoning("the user wants "), reasoning("a file"), call("read_file", { path: "a.txt" })],
      [reasoning("now I know"), text("It is "), text("here.")],
    ]);
    writeFileSync(join(bench.repo, "a.txt"), "text of a.txt");
    const result = await bench.run({ text: "read it" });
    expect(arrivals(bench.events)).toEqual([
      "reasoning: the user wants a file",
      "call: read_file",
      "reasoning: now I know",
      "text: It is here.",
    ]);
    expect(result.answer).toBe("It is here.");
    expect((await contents(bench)).join()).not.toMatch(/wants|know/);
    expect(provider.refusals()).toEqual([]);
    // the feed has it while the answer is written, and not after
    const thoughts = seen.map((each) => each?.state.reasoning?.text ?? null);
    expect(thoughts).toContain("the user wants a file");
    expect(thoughts).toContain("now I know");
    const last = seen.findLast((each) => each !== null);
    expect(last?.state.reasoning).toBeNull();
  });

  it("[EVENT-23] is not joined with the text of a persona without tools", async () => {
    const { bench } = await benchOf(api, [[reasoning("think"), text("answer")]], {
      persona: "talker",
    });
    const result = await bench.run({ text: "hello" });
    expect(arrivals(bench.events)).toEqual(["reasoning: think", "text: answer"]);
    expect(result.answer).toBe("answer");
    expect(await contents(bench)).toEqual(["hello", "answer"]);
  });

  it("[EVENT-24] is cut after 4,096 bytes, between two characters", async () => {
    const long = "é".repeat(EVENT_REASONING_BYTES);
    const { bench } = await benchOf(api, [
      [reasoning("a"), reasoning(long), reasoning("more"), text("answer")],
    ]);
    await bench.run({ text: "hello" });
    const whole = bench.events
      .flatMap((event) => (event.type === "reasoning" ? [event.text] : []))
      .join("");
    expect(whole).toBe(`a${"é".repeat((EVENT_REASONING_BYTES - 2) / 2)}…`);
  });
});

it("[EVENT-23] thinking that Claude does not show is reported once without text", async () => {
  const redacted: Step = { kind: "reasoning", text: "secret", isRedacted: true };
  const { bench } = await benchOf(CLAUDE, [[redacted, text("answer")]]);
  await bench.run({ text: "hello" });
  expect(arrivals(bench.events)).toEqual(["reasoning: ", "text: answer"]);
  expect(JSON.stringify(bench.events)).not.toContain("secret");
});

it.each([
  ["anthropic:claude-sonnet-5-5", { type: "adaptive", display: "summarized" }],
  ["anthropic:claude-opus-4-6", { type: "adaptive", display: "summarized" }],
  ["anthropic:claude-haiku-4-5-20251001", undefined],
  ["anthropic:claude-opus-4-20250514", undefined],
  ["anthropic:my-server", undefined],
])("[EVENT-25] %s is asked for a summary of its thinking if it takes that", async (model, sent) => {
  const { bench, provider } = await benchOf({ ...CLAUDE, model }, [[text("answer")]]);
  await bench.run({ text: "hello" });
  expect(provider.refusals()).toEqual([]);
  expect(provider.requests[0]?.["thinking"]).toEqual(sent);
});

it("[EVENT-25] an account to which OpenAI shows no reasoning is asked again without it, once", async () => {
  const refused: Step = {
    kind: "status",
    status: 400,
    error: { message: "Your organization must be verified.", param: "reasoning.summary" },
  };
  const { bench, provider } = await benchOf(RESPONSES, [[refused], [text("one")], [text("two")]]);
  expect((await bench.run({ text: "hello" })).answer).toBe("one");
  expect(provider.requests.map((body) => body["reasoning"])).toEqual([
    { summary: "auto" },
    undefined,
  ]);
});

it("[EVENT-29] a thought that is too long, or not shown, gives signs of life", () => {
  const texts: string[] = [];
  let now = 0;
  const arriving = new ArrivingText(
    (event) => void texts.push(event.type === "reasoning" ? event.text : event.type),
    () => now,
  );
  const think = (id: string, text: string, afterMs: number): void => {
    now += afterMs;
    arriving.onReasoning(id, text);
  };
  const long = "a".repeat(EVENT_REASONING_BYTES);
  think("a", `${long}b`, 0);
  think("a", "c", EVENT_REASONING_SIGN_MS - 1);
  think("a", "d", 1);
  think("a", "e", EVENT_REASONING_SIGN_MS);
  think("b", "", 0);
  think("b", "", 1);
  think("b", "", EVENT_REASONING_SIGN_MS);
  expect(texts).toEqual([`${long}…`, "", "", "", ""]);
});
