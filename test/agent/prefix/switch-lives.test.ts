import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { createExchanger } from "../../../src/agent/exchange.ts";
import { isRepriseError } from "../../../src/core/errors.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { setPlanMode, switchModel } from "../../../src/store/records/sessions/change.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import type { Script } from "../../helpers/providers/server.ts";
import { call, reasoning, type Step, text } from "../../helpers/providers/steps.ts";
import { randomOf, seedOf } from "../../helpers/random.ts";
import { testSize } from "../../helpers/size.ts";
import { isSummaryRequest } from "./requests.ts";
import { MODELS, type Name, openProviders, partsOfAny, PROVIDERS } from "./switch-bench.ts";

const STEPS = 14;
const ACTS = [
  "say",
  "call",
  "call",
  "switch",
  "switch",
  "plan",
  "instructions",
  "compact",
  "break",
] as const;

it("[SWITCH-2] [PREFIX-4] whatever happens between providers, none refuses a request, and none drops what it has made", async () => {
  const seed = seedOf("switch-lives");
  let random = randomOf(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const next = { breaks: false, calls: 0 };
  const scriptOf =
    (name: Name): Script =>
    (index, body): readonly Step[] => {
      if (isSummaryRequest(body)) {
        return [text("SUMMARY")];
      }
      // the strict server's model does not think
      const thought = name === "groq" ? [] : [reasoning(`Thought ${index} of ${name}.`)];
      if (next.breaks) {
        next.breaks = false;
        return [...thought, text("half"), { kind: "drop" }];
      }
      if (next.calls === 0) {
        return [...thought, text(`answer ${index} of ${name}`)];
      }
      next.calls -= 1;
      const listed = call("list_files", { path: "." });
      return name === "moonshot" && listed.kind === "call"
        ? [...thought, { ...listed, id: `functions.list_files:${index}` }]
        : [...thought, listed, call("write_file", { path: `f${index}`, content: "x" })];
    };
  const counted = { exchanges: 0, requests: 0, switches: 0, begun: 0 };
  const { store, parts, repo, order, providers } = await openProviders(scriptOf);
  const exchanger = createExchanger(parts);
  const instructions = join(repo, "AGENTS.md");

  for (let life = 0; life < testSize("prefix-lives"); life += 1) {
    random = randomOf(seed + life);
    const begins = order.length;
    const received = Object.fromEntries(
      PROVIDERS.map((name) => [name, providers[name].received.length]),
    );
    rmSync(instructions, { force: true });
    const model = (): string => {
      const name = pick(PROVIDERS);
      return `${name}:${pick(MODELS[name])}`;
    };
    const first = model();
    const story: string[] = [`seed ${seed + life}`, first];
    const { id } = await store.write(createSession, {
      repo_path: repo,
      permission: "all",
      model: first,
    });
    const run = async (text: string): Promise<void> => {
      counted.exchanges += 1;
      const live = { listener: () => undefined, signal: new AbortController().signal };
      await exchanger.exchange({ session_id: id, text }, live).catch((error: unknown) => {
        if (!isRepriseError(error, "model_unreachable")) {
          throw new Error(`${story.join()}: ${String(error)}`, { cause: error });
        }
      });
    };
    for (let step = 0; step < STEPS; step += 1) {
      const act = pick(ACTS);
      story.push(act);
      next.calls = act === "call" ? 1 + Math.floor(random() * 2) : 0;
      next.breaks = act === "break";
      if (act === "plan") {
        await store.write(setPlanMode, { id, plan_mode: random() < 0.5 });
      } else if (act === "instructions") {
        writeFileSync(instructions, `Rule ${Math.floor(random() * 3)}.`);
      } else if (act === "compact") {
        const signal = new AbortController().signal;
        await exchanger.compact({ session_id: id }, { signal }).catch((error: unknown) => {
          if (!isRepriseError(error, "exchange_interrupted")) {
            throw error;
          }
        });
      } else if (act === "switch") {
        const name = model();
        story.push(name);
        counted.switches += 1;
        await store.write(switchModel, { id, model: name });
      } else {
        await run(`say ${step}`);
      }
    }
    next.calls = 0;
    next.breaks = false;
    await run("say 99");
    counted.requests += order.length - begins;
    for (const name of PROVIDERS) {
      const own = providers[name].received.slice(received[name]);
      expect(
        own.flatMap(({ refusal }) => refusal ?? []),
        `${name} ${story.join()}`,
      ).toEqual([]);
      const dropped = own.flatMap((request) => request.dropped);
      expect(
        dropped.filter(({ reason }) => reason !== "model_binding_mismatch"),
        `${name} ${story.join()}`,
      ).toEqual([]);
      const answered = own.map(({ body }) => body).filter((body) => !isSummary(body));
      const all = answered.map(partsOfAny);
      for (const [at, parts] of all.entries()) {
        const before = all[at - 1] ?? [];
        const isLonger = before.every((part, index) => part === parts[index]);
        // the prefix is stored with the first whole answer, and a summary begins another one
        const firstAct = story.find((act) => act === "say" || act === "call" || act === "break");
        const mayBegin = story.includes("compact") || firstAct === "break";
        expect(isLonger || mayBegin, `${name} ${at} ${story.join()}`).toBe(true);
        counted.begun += isLonger ? 0 : 1;
      }
    }
    expect((await verifySession(store, id)).findings, story.join()).toEqual([]);
  }
  console.log("switch-lives:", JSON.stringify(counted));
  expect(counted.switches).toBeGreaterThan(0);
});

function isSummary(body: unknown): boolean {
  return isSummaryRequest(JSON.stringify(body));
}
