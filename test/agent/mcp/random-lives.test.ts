import { appendFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { inputRequired, McpServer } from "@modelcontextprotocol/server";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";

import type { Repeats } from "../../../src/core/questions.ts";
import { answerQuestion } from "../../../src/store/records/questions/answer.ts";
import { listOpenQuestions } from "../../../src/store/records/questions/read.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { createDatabase } from "../../helpers/database.ts";
import { fixtureServer, notedIn, runningOf } from "../../helpers/mcp.ts";
import { startMcpService } from "../../helpers/mcp-service.ts";
import {
  type ModelAnswer,
  type SentMessage,
  startModelServer,
} from "../../helpers/model-server.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import type { Running } from "../../helpers/process.ts";
import { randomOf, seedOf } from "../../helpers/random.ts";
import { testSize } from "../../helpers/size.ts";
import { startProgram } from "../../helpers/start-program.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

const STEPS = 7;
const TOOLS = ["one__act", "one__act", "one__denied", "one__sometimes", "web__act", "web__denied"];
const HOWS = ["fast", "fast", "slow", "slow", "dies", "fails", "silent", "asks", "asks"];
const WAYS = ["whole", "whole", "writes", "killed", "killed"] as const;
const DENIES = { match: "mcp__one__denied|mcp__web__denied", command: "echo no >&2; exit 2" };
const HOOKS = {
  none: {},
  denies: { PreToolUse: [DENIES] },
  notes: {
    PreToolUse: [DENIES],
    PostToolUse: [
      {
        match: "^mcp__",
        command: `echo '{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"noted"}}'`,
      },
    ],
  },
  // denies calls that may have begun before
  sometimes: {
    PreToolUse: [
      DENIES,
      {
        match: "mcp__.*__act",
        command: 'test ! -e "$HOME/denies" || { echo not now >&2; exit 2; }',
      },
    ],
  },
  slow: {
    PreToolUse: [DENIES, { match: "mcp__.*__act", command: "sleep 30", timeout_ms: 100 }],
    PostToolUse: [{ match: "mcp__.*", command: "sleep 0.1" }],
  },
} as const;
/** Answers by the kinds of questions. */
const CHOICES = new Map([
  ["repeat", ["again", "again", "skip"]],
  ["question", ["1", "2", "3"]],
]);
type HooksName = keyof typeof HOOKS;

interface Wanted {
  readonly name: string;
  readonly what: string;
  readonly how: string;
}

/** Calls what the last message of the user lists, all at once, and then ends. */
function answerOf(messages: readonly SentMessage[]): ModelAnswer {
  const last = messages.at(-1);
  if (last?.role !== "user") {
    return { content: "done" };
  }
  // a note may follow
  const list = JSON.parse(last.content.split("\n", 1).join("")) as readonly Wanted[];
  return {
    toolCalls: list.map(({ name, what, how }) => ({
      id: `call ${what}`,
      name,
      arguments: JSON.stringify({ what, how }),
    })),
  };
}

it("[MCP-60] [HOOK-40] whatever its exchanges die of, no call of a server acts twice without a yes, and no process is left", async () => {
  const seed = seedOf("mcp-lives");
  const empty = await createDatabase();
  onTestFinished(() => empty[Symbol.asyncDispose]());
  const store = await openStoreAt(empty.location);
  onTestFinished(() => store.close());
  const server = await startModelServer({ answer: answerOf });
  const home = temporaryFolder();
  const noted = join(home, "noted");
  let cuts = new Set<string>();
  const url = await startMcpService(
    () => {
      const service = new McpServer({ name: "web", version: "1.0.0" });
      for (const name of ["act", "denied"]) {
        service.registerTool(
          name,
          {
            description: "Acts.",
            inputSchema: z.object({ what: z.string(), how: z.string().optional() }),
          },
          async ({ what, how = "" }, { mcpReq }) => {
            if (how === "asks" && mcpReq.inputResponses === undefined) {
              const requestedSchema = { type: "object", properties: {} } as const;
              const message = `Go on with ${what}?`;
              const ok = inputRequired.elicit({ message, requestedSchema });
              return inputRequired({ inputRequests: { ok } });
            }
            appendFileSync(noted, `act ${what}\n`);
            if (how === "dies") {
              cuts.add(what);
            }
            await sleep(how === "slow" ? 150 : how === "silent" ? 2000 : 0);
            return { content: [{ type: "text", text: `did ${what}` }], isError: how === "fails" };
          },
        );
      }
      return service;
    },
    (body) => ([...cuts].some((what) => body.includes(`"${what}"`)) ? "cut" : null),
  );
  const mcp = {
    one: { ...fixtureServer("lives.ts", noted), timeout_ms: 1000 },
    web: { url, timeout_ms: 1000 },
  };
  const file = join(home, "config.jsonc");
  const configure = (hooks: HooksName): void => {
    const own = Object.entries(HOOKS[hooks]).map(([event, list]) => [
      event,
      list.map((hook: object) => ({ ...hook, sandbox: false })),
    ]);
    writeFileSync(file, JSON.stringify({ mcp, hooks: Object.fromEntries(own) }), { mode: 0o600 });
  };
  const start = (): Running =>
    startProgram("mcp-lives.ts", [empty.location, file], {
      env: { ...server.env("openai"), REPRISE_MODEL: "openai:gpt-test" },
    });
  const counts = {
    exchanges: 0,
    killed: 0,
    acted: 0,
    unknown: 0,
    again: 0,
    denied: 0,
    answered: 0,
  };

  for (let life = 0; life < testSize("mcp-lives"); life += 1) {
    const random = randomOf(seed + life);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
    cuts = new Set();
    const hooks = pick(Object.keys(HOOKS) as HooksName[]);
    configure(hooks);
    const repo = temporaryFolder();
    const permission = pick(["all", "all", "ask"] as const);
    const { id } = await store.write(createSession, { repo_path: repo, permission });
    const asked = server.requests().length;
    const story: string[] = [`${hooks} ${permission}`];
    /** How often a person has allowed each effect once more. */
    const again = new Map<string, number>();
    let program: Running | null = null;
    let orders = 0;

    const answerAll = async (): Promise<void> => {
      for (const { id: question, kind, text } of await store.read(listOpenQuestions, {
        reference: id,
      })) {
        const choice = pick(CHOICES.get(kind) ?? ["allow_once"]);
        counts.answered += kind === "question" ? 1 : 0;
        if (choice === "again") {
          counts.again += 1;
          for (const [, what = ""] of text.matchAll(/"what":\s*"([\d.]+)"/g)) {
            again.set(what, (again.get(what) ?? 0) + 1);
          }
        }
        const given = { given: { choice }, note: null, answered_by: "http" } as const;
        await store.write(answerQuestion, { reference: id, question, ...given });
        story.push(`${kind} ${choice}`);
      }
    };
    /** One exchange. Returns how it ended; null if its process was killed. */
    const act = async (text: string | null, way: (typeof WAYS)[number]): Promise<string | null> => {
      counts.exchanges += 1;
      if (program === null) {
        program = start();
        orders = 0;
        await program.waitFor(/ready/);
      }
      const running = program;
      orders += 1;
      const dies =
        way === "writes"
          ? { at: 1 + Math.floor(random() * 30), when: pick(["before", "after"]) }
          : null;
      const repeats: Repeats = pick(["never", "ask", "ask"]);
      const order = JSON.stringify({ session_id: id, text, repeats, dies });
      running.child.stdin?.write(`${order}\n`);
      const ended = running.waitFor(new RegExp(`^${orders} (.*)$`, "m")).then(
        ([, how = ""]) => how,
        () => null,
      );
      if (way === "killed") {
        await Promise.race([ended, sleep(random() * random() * 2500)]);
        await running.stop("SIGKILL");
      }
      const how = await ended;
      story.push(`${way} ${repeats} ${text ?? "continue"}: ${how}`);
      if (how === null || way === "killed") {
        expect((await running.finished).stderr).toBe("");
        expect((await running.finished).signal).toBe("SIGKILL");
        counts.killed += 1;
        program = null;
      }
      return how;
    };
    try {
      let last: string | null = "done";
      for (let step = 0; step < STEPS; step += 1) {
        if (random() < 0.7) {
          await answerAll();
        }
        if (random() < 0.5) {
          writeFileSync(join(home, "denies"), "");
        } else {
          rmSync(join(home, "denies"), { force: true });
        }
        const wanted = Array.from({ length: 1 + Math.floor(random() * 3) }, (_, at) => ({
          name: pick(TOOLS),
          what: `${life}.${step}.${at}`,
          how: pick(HOWS),
        }));
        const continues = random() < (last === "done" ? 0.1 : 0.7);
        last = await act(continues ? null : JSON.stringify(wanted), pick(WAYS));
        expect([null, "done", "waiting", "nothing_to_continue"]).toContain(last);
      }
      rmSync(join(home, "denies"), { force: true });
      const end = [{ name: "one__act", what: `${life}.end`, how: "fast" }];
      let how = await act(JSON.stringify(end), "whole");
      for (let round = 0; how === "waiting"; round += 1) {
        expect(round).toBeLessThan(20);
        await answerAll();
        how = await act(null, "whole");
      }
      expect(how).toBe("done");
      // what a killed one left running is ended by now, and the rest with its exchange
      expect(await runningOf(noted)).toEqual([]);
      await program!.stop("SIGKILL");
      const effects = notedIn(noted).flatMap((line) =>
        line.startsWith(`act ${life}.`) ? [line.slice(4)] : [],
      );
      for (const [what, times] of Map.groupBy(effects, (each) => each)) {
        expect([what, times.length]).toEqual([
          what,
          Math.min(times.length, 1 + (again.get(what) ?? 0)),
        ]);
      }
      const requests = server.requests().slice(asked);
      const results = requests.at(-1)!.filter(({ role }) => role === "tool");
      const calls = requests.at(-1)!.flatMap(({ tool_calls }) => (tool_calls ?? []) as Call[]);
      for (const { tool_call_id, content } of results) {
        const call = calls.find(({ id: call_id }) => call_id === tool_call_id);
        const { what } = JSON.parse(call!.function.arguments) as Wanted;
        const acted = effects.includes(what);
        const isDone = content.includes(`did ${what}`);
        const isUnknown = content.includes("may have taken effect");
        // what is certain is true
        expect([content, acted]).toEqual([content, isDone || (isUnknown && acted)]);
        const isDenied = content.includes("denied by the hook") && !isUnknown;
        expect(isDenied && acted).toBe(false);
        expect(hooks !== "none" && call!.function.name.endsWith("__denied") && acted).toBe(false);
        counts.acted += isDone ? 1 : 0;
        counts.unknown += isUnknown ? 1 : 0;
        counts.denied += isDenied ? 1 : 0;
      }
      for (const [at, messages] of requests.slice(1).entries()) {
        expect(messages.slice(0, requests[at]!.length)).toEqual(requests[at]);
      }
      // the first request may be lost with its answer, and nothing is stored of it
      const later = requests.flatMap((messages, at) =>
        messages.some(({ role }) => role === "assistant") ? [asked + at] : [],
      );
      const [offered, prompts] = [server.offeredTools(), server.systemPrompts()];
      expect(new Set(later.map((at) => offered[at]?.join())).size).toBe(1);
      expect(new Set(later.map((at) => prompts[at])).size).toBe(1);
      expect((await verifySession(store, id)).findings).toEqual([]);
      expect(server.refused()).toEqual([]);
    } catch (error) {
      throw new Error(`seed ${seed + life}: ${story.join("; ")}`, { cause: error });
    }
  }
  console.log(`mcp-lives: ${JSON.stringify(counts)}`);
});

interface Call {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}
