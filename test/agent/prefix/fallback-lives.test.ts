import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { createExchanger } from "../../../src/agent/exchange.ts";
import { isRepriseError } from "../../../src/core/errors.ts";
import { listExchanges } from "../../../src/store/records/exchanges/read.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { setPlanMode, switchModel } from "../../../src/store/records/sessions/change.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { call, reasoning, type Step, text } from "../../helpers/providers/steps.ts";
import { randomOf, seedOf } from "../../helpers/random.ts";
import { testSize } from "../../helpers/size.ts";
import { isSummaryRequest } from "./requests.ts";
import { type Name, openProviders, partsOfAny, PROVIDERS } from "./switch-bench.ts";

const STEPS = 10;
const MODELS: Readonly<Record<Name, readonly string[]>> = {
  anthropic: ["claude-opus-5-5", "claude-fable-5-2"],
  openai: ["gpt-5.6", "gpt-6.1"],
  azure: ["gpt-6.1"],
  deepseek: ["deepseek-reasoner"],
  moonshot: ["kimi-k3"],
  groq: ["llama"],
  ollama: ["qwen3"],
};
const ACTS = ["say", "say", "call", "call", "call", "switch", "plan", "instructions", "compact"];
const FAILURES: readonly Step[] = [
  { kind: "status", status: 529 },
  { kind: "status", status: 500 },
  { kind: "status", status: 404 },
  { kind: "drop" },
];

it("[FALLBACK-3] [SWITCH-2] [PREFIX-4] whatever fails and returns, no provider refuses a request, and none drops what it has made", async () => {
  const seed = seedOf("fallback-lives");
  let random = randomOf(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  let calls = 0;
  const scriptOf = (name: Name) => (index: number, body: string) => {
    if (random() < 0.3) {
      return [pick(FAILURES)];
    }
    if (isSummaryRequest(body)) {
      return [text("SUMMARY")];
    }
    const thought = name === "groq" ? [] : [reasoning(`Thought ${index} of ${name}.`)];
    if (calls === 0) {
      return [...thought, text(`answer ${index} of ${name}`)];
    }
    calls -= 1;
    const listed = call("list_files", { path: "." });
    return name === "moonshot" && listed.kind === "call"
      ? [...thought, { ...listed, id: `functions.list_files:${index}` }]
      : [...thought, listed, call("write_file", { path: `f${index}`, content: "x" })];
  };
  const counted = { exchanges: 0, requests: 0, fallbacks: 0, returns: 0, failed: 0, begun: 0 };
  const { store, parts, repo, order, providers } = await openProviders(scriptOf);
  const exchanger = createExchanger(parts);
  const instructions = join(repo, "AGENTS.md");

  for (let life = 0; life < testSize("fallback-lives"); life += 1) {
    random = randomOf(seed + life);
    const begins = order.length;
    const received = new Map(PROVIDERS.map((name) => [name, providers[name].received.length]));
    rmSync(instructions, { force: true });
    const model = (): string => {
      const name = pick(PROVIDERS);
      return `${name}:${pick(MODELS[name])}`;
    };
    const story: string[] = [model()];
    const { id } = await store.write(createSession, {
      repo_path: repo,
      permission: "all",
      model: story[0]!,
      fallback: [model(), model(), model()],
    });
    let fellBack = false;
    for (let step = 0; step < STEPS; step += 1) {
      const act = pick(ACTS);
      story.push(act);
      calls = act === "call" ? 1 + Math.floor(random() * 3) : 0;
      if (act === "plan") {
        await store.write(setPlanMode, { id, plan_mode: random() < 0.5 });
      } else if (act === "instructions") {
        writeFileSync(instructions, `Rule ${Math.floor(random() * 3)}.`);
      } else if (act === "switch") {
        await store.write(switchModel, { id, model: model() });
      } else if (act === "compact") {
        const { signal } = new AbortController();
        await exchanger.compact({ session_id: id }, { signal }).catch(requireKnown(story));
      } else {
        const live = { listener: () => undefined, signal: new AbortController().signal };
        await exchanger
          .exchange({ session_id: id, text: `say ${step}` }, live)
          .catch(requireKnown(story));
        const [last] = await store.read(listExchanges, { reference: id, limit: 1 });
        counted.exchanges += 1;
        counted.failed += last?.state === "failed" ? 1 : 0;
        const falls = last?.fallback_model !== null;
        counted.fallbacks += falls ? 1 : 0;
        counted.returns += fellBack && !falls ? 1 : 0;
        fellBack = falls;
      }
    }
    counted.requests += order.length - begins;
    for (const name of PROVIDERS) {
      const own = providers[name].received.slice(received.get(name));
      const where = `${name} ${story.join()}`;
      expect(
        own.flatMap(({ refusal }) => refusal ?? []),
        where,
      ).toEqual([]);
      const dropped = own.flatMap((request) => request.dropped);
      expect(
        dropped.filter(({ reason }) => reason !== "model_binding_mismatch"),
        where,
      ).toEqual([]);
      const all = own
        .map(({ body }) => body)
        .filter((body) => !isSummaryRequest(JSON.stringify(body)))
        .map(partsOfAny);
      for (const [at, parts] of all.entries()) {
        const isLonger = (all[at - 1] ?? []).every((part, index) => part === parts[index]);
        // the prefix is stored with the first whole answer, and a summary begins another one
        expect(isLonger || at === 1 || story.includes("compact"), `${at} ${where}`).toBe(true);
        counted.begun += isLonger ? 0 : 1;
      }
    }
    expect((await verifySession(store, id)).findings, story.join()).toEqual([]);
  }
  console.log("fallback-lives:", JSON.stringify(counted));
  expect(Math.min(counted.fallbacks, counted.returns)).toBeGreaterThan(0);
});

function requireKnown(story: readonly string[]): (error: unknown) => void {
  return (error) => {
    if (
      !isRepriseError(
        error,
        "model_failed",
        "model_unreachable",
        "model_unknown",
        "exchange_interrupted",
      )
    ) {
      throw new Error(`${story.join()}: ${String(error)}`, { cause: error });
    }
  };
}
