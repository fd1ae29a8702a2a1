import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import type { CacheLife, Effort } from "../../../src/core/model-settings.ts";
import { modelConfig } from "../../../src/rules/models/config.ts";
import { createSettings } from "../../../src/rules/config/settings.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { setModelSettings } from "../../../src/store/records/sessions/model-settings.ts";
import { agentOptions, openBench } from "../../helpers/exchanger.ts";
import { CHAT_SERVERS } from "../../helpers/providers/openai/chat-quirks.ts";
import { openAiAs } from "../../helpers/openai-as.ts";
import { startProvider, type ProviderName } from "../../helpers/providers/start.ts";
import { text } from "../../helpers/providers/steps.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

interface Chosen {
  readonly effort?: Effort;
  readonly cache?: CacheLife;
}

interface Given {
  readonly model: string;
  readonly session?: Chosen;
  /** The front matter of a persona, and whose it is. */
  readonly persona?: { readonly of: "user" | "folder"; readonly effort: Effort };
  readonly config?: Chosen;
}

async function benchOf({ model, session = {}, persona, config = {} }: Given) {
  const [name] = model.split(":") as [ProviderName];
  const provider = await startProvider(name, () => [text("done")], {
    quirks: CHAT_SERVERS.openrouter,
  });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const env = { ...provider.env, REPRISE_MODEL: model };
  const api = model.includes("gpt") ? ("responses" as const) : ("chat" as const);
  const folder = temporaryFolder();
  const file = join(folder, "config.jsonc");
  writeFileSync(file, JSON.stringify(config));
  const settings = createSettings({ env, file, home: folder });
  const withApi = async (at: string | null) => {
    const found = await settings.at(at);
    const { providers } = modelConfig(env, openAiAs(api));
    return { ...found, models: { ...found.models, providers } };
  };
  const bench = await openBench({ env: () => provider.env }, env, (store) => ({
    models: modelConfig(env),
    settings: { ...settings, at: withApi },
    personas: { ...agentOptions(store).personas, userDir: join(folder, "personas") },
  }));
  if (persona !== undefined) {
    const dir =
      persona.of === "user" ? join(folder, "personas") : join(bench.repo, ".reprise", "personas");
    mkdirSync(dir, { recursive: true });
    writeFileSync(
      join(dir, "thinker.md"),
      `---\nname: thinker\ndescription: thinks\neffort: ${persona.effort}\n---\n\nThink.\n`,
    );
  }
  const { id } = await bench.store.write(createSession, {
    repo_path: bench.repo,
    persona_name: persona === undefined ? null : "thinker",
    permission: "all",
    ...session,
  });
  const run = (words: string) => bench.run({ session_id: id, text: words });
  return { bench, provider, id, run };
}

const SUMMARIZED = { type: "adaptive", display: "summarized" };

it.each<readonly [string, Effort, object]>([
  [
    "anthropic:claude-sonnet-5-5",
    "xhigh",
    { output_config: { effort: "xhigh" }, thinking: SUMMARIZED },
  ],
  ["anthropic:claude-sonnet-5", "off", { thinking: { type: "disabled" } }],
  ["openai:gpt-6.1-sol", "max", { reasoning: { summary: "auto", effort: "max" } }],
  ["openai:gpt-5.2", "off", { reasoning: { summary: "auto", effort: "none" } }],
  ["openai:unknown-server", "high", { reasoning_effort: "high" }],
  ["ollama:qwen3", "off", { think: false }],
  ["ollama:qwen3", "max", { think: true }],
  ["ollama:gpt-oss:20b", "low", { think: "low" }],
])("[EFFORT-1] %s is asked for the effort %s in its own words", async (model, effort, sent) => {
  const { provider, run } = await benchOf({ model, session: { effort } });
  await run("hello");
  expect(provider.refusals()).toEqual([]);
  expect(provider.requests[0]).toMatchObject(sent);
});

it("[EFFORT-1] without an effort the model has its own", async () => {
  const { provider, run } = await benchOf({ model: "anthropic:claude-sonnet-5-5" });
  await run("hello");
  expect(provider.requests[0]).not.toHaveProperty("output_config");
});

it.each<readonly [string, Effort, RegExp]>([
  ["anthropic:claude-sonnet-5-5", "off", /takes low, medium, high, xhigh, max, and default/],
  ["anthropic:claude-haiku-4-5", "low", /takes no effort/],
  ["openai:gpt-5.1", "xhigh", /takes off, low, medium, high, and default/],
  ["ollama:gpt-oss:20b", "off", /takes low, medium, high, and default/],
])("[EFFORT-2] %s refuses the effort %s before anything is stored", async (model, effort, says) => {
  const { bench, provider, id, run } = await benchOf({ model, session: { effort } });
  await expect(run("hello")).rejects.toMatchObject({
    code: "effort_unknown",
    message: expect.stringMatching(says),
  });
  expect(provider.received).toEqual([]);
  const { last_seq } = await bench.store.write(setModelSettings, {
    id,
    settings: { effort: null },
  });
  expect(last_seq).toBe(0);
  await run("hello");
  expect(provider.received).toHaveLength(1);
});

it.each<readonly [string, Omit<Given, "model">, Effort | null]>([
  ["the session", { session: { effort: "low" }, config: { effort: "high" } }, "low"],
  [
    "the user's persona",
    { persona: { of: "user", effort: "max" }, config: { effort: "high" } },
    "max",
  ],
  ["the config", { config: { effort: "high" } }, "high"],
  [
    "the config and not the folder's persona",
    { persona: { of: "folder", effort: "max" }, config: { effort: "high" } },
    "high",
  ],
  ["nothing", { persona: { of: "folder", effort: "max" } }, null],
])("[EFFORT-3] [TRUST-7] %s sets the effort", async (_, given, effort) => {
  const { provider, run } = await benchOf({ model: "anthropic:claude-sonnet-5-5", ...given });
  await run("hello");
  expect(provider.requests[0]?.["output_config"]).toEqual(effort === null ? undefined : { effort });
});

it.each<readonly [string, Omit<Given, "model">, unknown]>([
  ["the session's 1h", { session: { cache: "1h" }, config: { cache: "off" } }, "1h"],
  ["the session's off", { session: { cache: "off" } }, null],
  ["the config's 1h", { config: { cache: "1h" } }, "1h"],
  ["5m by default", {}, "5m"],
])("[EFFORT-4] the provider keeps the conversation as chosen: %s", async (_, given, life) => {
  const { provider, run } = await benchOf({ model: "anthropic:claude-sonnet-5-5", ...given });
  await run("hello");
  const sent = JSON.stringify(provider.requests[0]);
  expect(sent.includes("cache_control")).toBe(life !== null);
  expect(sent.includes('"ttl":"1h"')).toBe(life === "1h");
});
