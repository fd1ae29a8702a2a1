import { expect, it, onTestFinished } from "vitest";

import { createExchanger } from "../../../src/agent/exchange.ts";
import { modelConfig } from "../../../src/rules/models/config.ts";
import { copySession } from "../../../src/store/portable/copy-session.ts";
import { exportText } from "../../../src/store/portable/export-text.ts";
import { importTree } from "../../../src/store/portable/import-tree.ts";
import { parseExport } from "../../../src/store/portable/parse.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import type { Store } from "../../../src/store/store.ts";
import { describeEngine, openFresh } from "../../helpers/engines.ts";
import { agentOptions } from "../../helpers/exchanger.ts";
import { openAiAs } from "../../helpers/openai-as.ts";
import { CHAT_SERVERS, type ChatQuirks } from "../../helpers/providers/openai/chat-quirks.ts";
import { type ProviderName, startProvider } from "../../helpers/providers/start.ts";
import { call, reasoning, text } from "../../helpers/providers/steps.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

const WAYS: Readonly<Record<string, (from: Store, to: Store, id: string) => Promise<unknown>>> = {
  "an export and an import": async (from, to, id) => {
    const tree = await from.read(readSessionTree, { id });
    return importTree(to, parseExport([...exportText(tree, "2026-01-01T00:00:00.000Z")].join("")));
  },
  "a copy": (source, target, id) => copySession({ source, target, id }),
};

interface Sealed {
  readonly name: string;
  readonly mock: ProviderName;
  readonly model: string;
  readonly quirks?: ChatQuirks;
}

/** Providers whose answers hold what has to come back byte for byte. */
const SEALED: readonly Sealed[] = [
  { name: "anthropic", mock: "anthropic", model: "claude-opus-5-5" },
  { name: "openai", mock: "openai", model: "gpt-6.1-sol" },
  { name: "openrouter", mock: "openai", model: "maker/model", quirks: CHAT_SERVERS.openrouter },
  { name: "gemini", mock: "openai", model: "gemini-3-pro", quirks: CHAT_SERVERS.gemini },
];

describeEngine("a session that moves", (engine) => {
  it.each(Object.keys(WAYS).flatMap((way) => SEALED.map((sealed) => ({ way, ...sealed }))))(
    "[PREFIX-10] by $way sends $name the bytes that it sent before",
    async (sealed) => {
      const { way, name, mock, model, quirks } = sealed;
      const options = quirks === undefined ? {} : { quirks };
      const provider = await startProvider(
        mock,
        (index) => [
          reasoning(["Ünïcode “🙂”\u2028next", "", " \\u0000 "][index % 3] ?? ""),
          index % 2 === 0 ? call("list_files", { path: "." }) : text(`Answer ${index} ü.`),
        ],
        options,
      );
      onTestFinished(() => provider[Symbol.asyncDispose]());
      const [from, to] = [await openFresh(engine), await openFresh(engine)];
      const repo = temporaryFolder();
      const { id } = await from.write(createSession, { repo_path: repo, permission: "all" });
      const env = { ...provider.env, KEY: "test-key", REPRISE_MODEL: `${name}:${model}` };
      const entry = {
        api: null,
        baseUrl: `${provider.url}/v1`,
        key: { variable: "KEY" },
        headers: {},
      };
      const run = async (store: Store, words: string): Promise<void> => {
        const models = modelConfig(env, {
          ...openAiAs("responses"),
          ...(quirks === undefined ? {} : { [name]: entry }),
        });
        const exchanger = createExchanger({ ...agentOptions(store, env), models });
        const live = { listener: () => undefined, signal: new AbortController().signal };
        expect(await exchanger.exchange({ session_id: id, text: words }, live)).toMatchObject({
          state: "done",
        });
      };
      await run(from, "one");
      await run(from, "two");
      const before = sentIn(provider.received.at(-1)?.body);
      await WAYS[way]?.(from, to, id);
      await run(to, "three");

      const after = sentIn(provider.received.at(-1)?.body);
      expect(after.slice(0, before.length)).toEqual(before);
      expect(after.length).toBeGreaterThan(before.length);
      expect(provider.refusals()).toEqual([]);
      expect(provider.received.flatMap(({ dropped }) => dropped)).toEqual([]);
    },
  );
});

/** What a model reads, item after item, as its bytes; marks of the cache are not a part of it. */
function sentIn(body: Readonly<Record<string, unknown>> | undefined): string[] {
  const { system, instructions, tools, messages, input } = body ?? {};
  const items = [...list(system), instructions, ...list(tools), ...list(messages ?? input)];
  return items.map((item) =>
    JSON.stringify(item, (key, value: unknown) => (key === "cache_control" ? undefined : value)),
  );
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}
