import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { tool } from "@langchain/core/tools";
import { onTestFinished } from "vitest";
import { z } from "zod";

import { permissionChoices } from "../../src/core/text/words.ts";
import { createExchanger } from "../../src/agent/exchange.ts";
import { ask, asksFirst } from "../../src/agent/permit/tool-asking.ts";
import { startDispatcher } from "../../src/exchange/nodes/dispatcher.ts";
import { modelConfig } from "../../src/rules/models/config.ts";
import { createFeed } from "../../src/exchange/live/feed.ts";
import type { ServerOptions } from "../../src/http/serve.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { createDatabase } from "./database.ts";
import { agentOptions } from "./exchanger.ts";
import { type ModelAnswer, type SentMessage, startModelServer } from "./model-server.ts";
import { openStoreAt } from "./open-store.ts";
import { startTestServer } from "./server.ts";
import { temporaryFolder } from "./temp.ts";

export const TOKEN = "a-token";

/** Asks before it pays; what it pays is a line of the file. */
function payTool(log: string) {
  return asksFirst(
    tool(
      async ({ what }, config) => {
        const { choice } = await ask(config, {
          kind: "permission",
          text: `Pay ${what}?`,
          choices: permissionChoices(null),
          permission: null,
        });
        if (choice === "allow_once") {
          appendFileSync(log, `${what}\n`);
        }
        return choice === "allow_once" ? `paid ${what}` : `not allowed: ${what}`;
      },
      { name: "pay", description: "Pays.", schema: z.object({ what: z.string() }) },
    ),
  );
}

/** A service that runs its exchanges on a mock model, with a tool that asks a person. */
export async function startPayingService(
  answer: (messages: readonly SentMessage[], index: number) => ModelAnswer,
  { latencyMs = 0, ...options }: Partial<ServerOptions> & { readonly latencyMs?: number } = {},
) {
  const model = await startModelServer({ answer, latencyMs, chunkSize: 5 });
  const env = { ...model.env("openai"), REPRISE_MODEL: "openai:gpt-test" };
  return { ...(await startRunningService(env, options)), model };
}

/** The same on the provider of an environment, which is asked again at once. It has a session with a folder. */
export async function startRunningService(
  env: Readonly<Record<string, string>>,
  {
    retryDelayMs = 1,
    ...options
  }: Partial<ServerOptions> & { readonly retryDelayMs?: number } = {},
) {
  const log = join(temporaryFolder(), "paid");
  const database = await createDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const store = await openStoreAt(database.location);
  onTestFinished(() => store.close());
  const feed = createFeed({ store });
  onTestFinished(() => feed.close());
  const t = await startTestServer({ token: TOKEN, store, live: feed, ...options });
  onTestFinished(() => t[Symbol.asyncDispose]());
  const exchanger = createExchanger({
    ...agentOptions(t.store, env),
    models: { ...modelConfig(env), retryDelayMs },
    programTools: [payTool(log)],
    feed,
  });
  const failures: unknown[] = [];
  const dispatcher = startDispatcher({
    store: t.store,
    openExchanger: async () => exchanger,
    jobs: 4,
    serves: async () => true,
    pollMs: 50,
    onFailure: (error) => failures.push(error),
  });
  onTestFinished(() => dispatcher.close());
  const repo_path = temporaryFolder();
  writeFileSync(join(repo_path, "note.txt"), "the note");
  const { id } = await t.store.write(createSession, { repo_path, permission: "all" });
  return {
    ...t,
    id,
    path: database.location,
    failures,
    paid: () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []),
  };
}

/** Reads two files, pays for what the user names, and says what came of it; other messages get their own text. */
export function payingModel(messages: readonly SentMessage[]): ModelAnswer {
  const at = messages.findLastIndex(({ role }) => role === "user");
  const text = messages[at]?.content ?? "";
  const results = messages.slice(at).filter(({ role }) => role === "tool");
  if (!text.startsWith("pay ")) {
    return { content: `you said: ${text} 👩‍🚀é` };
  }
  const read = (path: string) => ({ name: "read_file", arguments: JSON.stringify({ path }) });
  return results.length === 0
    ? {
        content: "Let me see. ",
        toolCalls: [
          read("note.txt"),
          read("note.txt"),
          { name: "pay", arguments: JSON.stringify({ what: text.slice(4) }) },
        ],
      }
    : { content: results.map(({ content }) => content).join("; ") };
}
