import { expect, it } from "vitest";

import { switchModel } from "../../../src/store/records/sessions/change.ts";
import type { Script } from "../../helpers/providers/server.ts";
import { call, reasoning, text } from "../../helpers/providers/steps.ts";
import { type Name, openProviders, partsOfAny } from "./switch-bench.ts";

const MODELS: Readonly<Record<Name, string>> = {
  anthropic: "anthropic:claude-opus-5-5",
  openai: "openai:gpt-5.6",
  azure: "azure:gpt-6.1",
  deepseek: "deepseek:deepseek-reasoner",
  moonshot: "moonshot:kimi-k3",
  groq: "groq:llama",
  ollama: "ollama:qwen3",
};

/** Each exchange thinks, calls a tool, thinks and answers. Kimi gives its calls ids that others refuse. */
function thinking(name: Name): Script {
  return (index) => {
    const thought = name === "groq" ? [] : [reasoning(`Thought ${index} of ${name}.`)];
    if (index % 2 === 1) {
      return [...thought, text(`answer of ${name}`)];
    }
    const listed = call("list_files", { path: "." });
    return [
      ...thought,
      name === "moonshot" && listed.kind === "call"
        ? { ...listed, id: `functions.list_files:${index}` }
        : listed,
    ];
  };
}

async function open() {
  const bench = await openProviders(thinking);
  const { store, session, run, order } = bench;
  const ask = async (name: Name) => {
    await store.write(switchModel, { id: session.id, model: MODELS[name] });
    const begins = order.length;
    await run({ text: `question for ${name}` });
    return order.slice(begins).map(({ body }) => JSON.stringify(body));
  };
  return { ...bench, ask };
}

it("[SWITCH-2] another provider gets text, calls and results, and a model that is switched back to its own reasoning", async () => {
  const { ask, providers } = await open();
  const marks = [/"signature"/, /"encrypted_content"/, /"reasoning_content":"[^"]/, /"thinking":"/];
  const seen = async (name: Name) => {
    const [first = ""] = await ask(name);
    return marks.map((mark) => mark.test(first));
  };
  expect(await seen("anthropic")).toEqual([false, false, false, false]);
  expect(await seen("openai")).toEqual([false, false, false, false]);
  expect(await seen("azure")).toEqual([false, false, false, false]);
  expect(await seen("deepseek")).toEqual([false, false, false, false]);
  expect(await seen("moonshot")).toEqual([false, false, false, false]);
  expect(await seen("groq")).toEqual([false, false, false, false]);
  expect(await seen("ollama")).toEqual([false, false, false, false]);
  expect(await seen("anthropic")).toEqual([true, false, false, true]);
  expect(await seen("openai")).toEqual([false, true, false, false]);
  expect(await seen("deepseek")).toEqual([false, false, true, false]);
  const [back = ""] = await ask("azure");
  expect(back.match(/"encrypted_content"/g)).toHaveLength(2);
  for (const [name, provider] of Object.entries(providers)) {
    expect([name, provider.refusals()]).toEqual([name, []]);
    expect([name, provider.received.flatMap(({ dropped }) => dropped)]).toEqual([name, []]);
    const all = provider.received.map(({ body }) => partsOfAny(body));
    for (const [at, parts] of all.entries()) {
      expect(parts.slice(0, all[at - 1]?.length ?? 0), `${name} ${at}`).toEqual(all[at - 1] ?? []);
    }
  }
});

it("[SWITCH-3] a call has the id that its provider gave it, for this provider alone", async () => {
  const { ask } = await open();
  const own = await ask("moonshot");
  expect(own.at(-1)).toContain('"functions.list_files:0"');
  for (const name of ["groq", "anthropic", "azure", "ollama"] as const) {
    expect((await ask(name)).join("")).not.toContain("functions.list_files:");
  }
  expect((await ask("moonshot"))[0]).toContain('"functions.list_files:0"');
});

it("[SWITCH-1] another model continues an exchange that failed in the middle", async () => {
  const { store, session, run, providers, order } = await openProviders(
    (name) => (index) =>
      name === "openai" && index === 1
        ? [{ kind: "status", status: 401 }]
        : name === "openai"
          ? [reasoning("Hm."), call("list_files", { path: "." })]
          : [text("done by another")],
  );
  await store.write(switchModel, { id: session.id, model: MODELS.openai });
  await expect(run({ text: "question" })).rejects.toMatchObject({ code: "model_unauthorized" });
  await store.write(switchModel, { id: session.id, model: MODELS.anthropic });
  expect((await run()).answer).toBe("done by another");
  const last = order.at(-1);
  expect([last?.to, JSON.stringify(last?.body)]).toEqual([
    "anthropic",
    expect.stringContaining("tool_result"),
  ]);
  expect(providers.anthropic.refusals()).toEqual([]);
});
