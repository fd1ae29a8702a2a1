import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

import { createSession, type NewSession } from "../../src/store/records/sessions/create.ts";
import type { ExchangeRequest, Live } from "../../src/exchange/exchanger.ts";
import type { AgentOptions } from "../../src/agent/exchange-context.ts";
import { createExchanger } from "../../src/agent/exchange.ts";
import type { PermissionChoice } from "../../src/core/questions.ts";
import { createSettings } from "../../src/rules/config/settings.ts";
import { answerQuestion } from "../../src/store/records/questions/answer.ts";
import { listOpenQuestions } from "../../src/store/records/questions/read.ts";
import { expect } from "vitest";

import { resultText } from "../../src/mcp/result-text.ts";
import type { RunningCall } from "../../src/mcp/running-call.ts";
import { findFamily } from "../../src/workspace/commands/processes.ts";
import { openBench } from "./exchanger.ts";
import { FIXTURE_PROGRAMS_VARIABLE, type FixturePrograms } from "./fixture-programs.ts";
import { startModelServer } from "./model-server.ts";
import { ask } from "./on-first-ask.ts";
import { temporaryFolder } from "./temp.ts";

/** As it is written in a config. */
export type WrittenServer = Readonly<Record<string, unknown>>;

/** Bundled: each then starts in half of the time. */
const { servers: SERVERS } = await ask<FixturePrograms>(FIXTURE_PROGRAMS_VARIABLE);

/** A server with the SDK. */
export const SOUND: WrittenServer = fixtureServer("server.ts");

/** A server of `test/fixtures/mcp`. */
export function fixtureServer(name: string, ...args: readonly string[]): WrittenServer {
  const file = join(SERVERS, `${basename(name, ".ts")}.js`);
  return { command: process.execPath, args: [file, ...args] };
}

/** A server that misbehaves; it notes its starts and calls in a file. */
export function hostile(kind: string, file?: string): WrittenServer {
  return fixtureServer("hostile.ts", kind, ...(file === undefined ? [] : [file]));
}

/** Calls that the model makes in answer to a message of the user, one after the other. */
type Steps = readonly { readonly name: string; readonly args?: object }[];

/** Sessions on a real database with MCP servers in the config of their user. */
export async function openMcp(
  mcp: Readonly<Record<string, WrittenServer>>,
  {
    steps = [],
    env = {},
    columns = {},
    config = {},
    hasCommands = false,
    permission,
    parts = {},
  }: {
    /** Further parts of its exchanges. */
    readonly parts?: Partial<AgentOptions>;
    /** True for a program that can run commands and hooks. */
    readonly hasCommands?: boolean;
    readonly permission?: AgentOptions["permission"];
    /** Of each message, or by the first line of a message. */
    readonly steps?: Steps | ((line: string) => Steps);
    readonly env?: Readonly<Record<string, string>>;
    readonly columns?: NewSession;
    readonly config?: object;
  } = {},
) {
  const home = temporaryFolder();
  const file = join(home, "config.jsonc");
  const configure = (servers: Readonly<Record<string, WrittenServer>>): void =>
    writeFileSync(file, JSON.stringify({ ...config, mcp: servers }));
  configure(mcp);
  const server = await startModelServer({
    answer: (messages) => {
      const at = messages.findLastIndex(({ role }) => role === "user");
      const done = messages.slice(at).filter(({ role }) => role === "assistant").length;
      const [line = ""] = String(messages[at]?.content).split("\n", 1);
      const step = (typeof steps === "function" ? steps(line) : steps)[done];
      return step === undefined
        ? { content: `end: ${messages.at(-1)?.content}` }
        : { toolCalls: [{ name: step.name, arguments: JSON.stringify(step.args ?? {}) }] };
    },
  });
  const variables = { ...server.env("openai"), REPRISE_MODEL: "openai:gpt-test" };
  const folder = join(home, "mcp");
  const bench = await openBench(
    server,
    {},
    {
      ...parts,
      settings: createSettings({ env: variables, file, home }),
      ...(permission === undefined ? {} : { permission }),
      ...(hasCommands
        ? { commands: { env: { PATH: process.env["PATH"], HOME: home }, outputFolder: null } }
        : {}),
      mcp: {
        env: { PATH: process.env["PATH"], ...env },
        folder,
        version: "0.0.0",
        listTimeoutMs: 60_000,
      },
    },
  );
  const { store, repo } = bench;
  const { id } = await store.write(createSession, {
    repo_path: repo,
    permission: "all",
    ...columns,
  });
  const exchanger = createExchanger(bench.parts);
  const outputs: string[] = [];
  return {
    ...bench,
    id,
    server,
    folder,
    configure,
    outputs,
    open: () => store.read(listOpenQuestions, { reference: id }),
    run: async (request: Partial<ExchangeRequest> = {}, live: Partial<Live> = {}) => ({
      answer: "",
      ...(await exchanger.exchange(
        { session_id: id, text: null, ...request },
        {
          listener: (event) => bench.events.push(event),
          signal: new AbortController().signal,
          onOutput: ({ text }) => outputs.push(text),
          ...live,
        },
      )),
    }),
    answer: async (choice: PermissionChoice) => {
      const [question] = await store.read(listOpenQuestions, { reference: id });
      await store.write(answerQuestion, {
        reference: id,
        question: question?.id ?? "",
        given: { choice },
        note: null,
        answered_by: "http",
        continues: true,
      });
      return question;
    },
    notices: () =>
      bench.events.flatMap((event) => (event.type === "notice" ? [event.sentence] : [])),
  };
}

/** What a hostile server noted. */
export function notedIn(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
}

/** The text of a call that ends without a question. */
export async function resultOf(call: RunningCall): Promise<string> {
  const step = await call.next(undefined);
  return step.kind === "result" ? resultText(step.result) : expect.fail(`a ${step.kind}`);
}

/** Processes that noted their starts and have not ended. */
export async function runningOf(file: string): Promise<readonly number[]> {
  const pids = notedIn(file).flatMap((line) => {
    const [what, pid] = line.split(" ");
    return what === "start" || what === "child" ? [Number(pid)] : [];
  });
  const found = await Promise.all(
    pids.map((pid) => findFamily({ group: pid, isMarked: () => false })),
  );
  return pids.filter((pid, at) => found[at]?.includes(pid));
}
