import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { AgentOptions } from "../../src/agent/exchange-context.ts";
import { createExchanger } from "../../src/agent/exchange.ts";
import { createCommandSandbox } from "../../src/agent/sandbox/command-sandbox.ts";
import type { PermissionMode } from "../../src/core/permissions.ts";
import type { ExchangeRequest } from "../../src/exchange/exchanger.ts";
import { createSettings } from "../../src/rules/config/settings.ts";
import type { HookTexts } from "../../src/rules/hooks/hook.ts";
import type { TrustSource } from "../../src/rules/trust/trust.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { createSandboxProbe } from "../../src/workspace/sandbox/probe.ts";
import { createKeptBytes } from "../../src/workspace/undo/kept-bytes.ts";
import { agentOptions, openBench } from "./exchanger.ts";
import { type ModelAnswer, startModelServer } from "./model-server.ts";
import { temporaryFolder } from "./temp.ts";

export type Call = NonNullable<ModelAnswer["toolCalls"]>[number];

export const calling = (name: string, args: object): Call => ({
  name,
  arguments: JSON.stringify(args),
});

/** Hooks of the user's own config, without a sandbox. */
export const hook = (command: string, match?: string) => ({
  command,
  sandbox: false,
  ...(match === undefined ? {} : { match }),
});

export interface Hooked {
  readonly hooks?: HookTexts;
  /** Calls or the text of each answer of the model; the text is `end` afterwards. */
  readonly answers?: readonly (readonly Call[] | string)[];
  readonly permission?: PermissionMode;
  /** Files of the folder. */
  readonly files?: Readonly<Record<string, string>>;
  readonly trust?: Partial<TrustSource>;
  /** False for a program that runs no commands in a sandbox. */
  readonly hasSandbox?: boolean;
  /** Further parts of its exchanges. */
  readonly parts?: Partial<AgentOptions>;
}

/** A session in a folder, with the hooks of a user's config, and a model that answers by a script. */
export async function hookedExchange(given: Hooked) {
  const { hooks = {}, files = {}, permission = "all", hasSandbox = false } = given;
  const answers = [...(given.answers ?? [])];
  const server = await startModelServer({
    answer: () => {
      const next = answers.shift() ?? "end";
      return typeof next === "string" ? { content: next } : { toolCalls: [...next] };
    },
  });
  const outside = temporaryFolder();
  const state = join(outside, "state");
  mkdirSync(state);
  const config = join(outside, "config.jsonc");
  const configure = (changed: HookTexts): void =>
    writeFileSync(config, JSON.stringify({ hooks: changed }), { mode: 0o600 });
  configure(hooks);
  const env = { ...server.env("openai"), REPRISE_MODEL: "openai:gpt-test" };
  const settings = createSettings({ env, file: config, home: outside });
  const commandEnv = { PATH: process.env["PATH"], HOME: outside };
  const kept = createKeptBytes(join(outside, "undo"));
  let denied = 0;
  const bench = await openBench(server, {}, (store) => ({
    ...given.parts,
    settings,
    personas: {
      ...agentOptions(store).personas,
      trust: { ...agentOptions(store).personas.trust, ...given.trust },
    },
    kept,
    permission: { allow: [], asks: true, onDenied: () => (denied += 1) },
    commands: {
      env: commandEnv,
      outputFolder: null,
      ...(hasSandbox
        ? {
            sandbox: createCommandSandbox(
              { state, probe: createSandboxProbe() },
              { env: commandEnv, protectedPaths: [] },
            ),
          }
        : {}),
    },
  }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(bench.repo, name, ".."), { recursive: true });
    writeFileSync(join(bench.repo, name), text);
  }
  const { id } = await bench.store.write(createSession, { repo_path: bench.repo, permission });
  const exchanger = createExchanger(bench.parts);
  return {
    ...bench,
    server,
    id,
    /** The home of the user, with the config. */
    home: outside,
    kept,
    exchanger,
    configure,
    denied: () => denied,
    send: async (text: string | null, request: Partial<ExchangeRequest> = {}) => {
      const result = await exchanger.exchange(
        { session_id: id, text, ...request },
        {
          listener: (event) => bench.events.push(event),
          signal: new AbortController().signal,
        },
      );
      return { answer: "", ...result };
    },
    /** Texts of the notices so far. */
    notices: () =>
      bench.events.flatMap((event) => (event.type === "notice" ? [event.sentence] : [])),
    /** Results of calls so far, as the model was sent them. */
    results: () =>
      (server.requests().at(-1) ?? []).flatMap(({ role, content }) =>
        role === "tool" ? [content] : [],
      ),
  };
}
