import { tool } from "@langchain/core/tools";
import { expect, it } from "vitest";
import { z } from "zod";

import { createExchanger } from "../../../src/agent/exchange.ts";
import { isRepriseError } from "../../../src/core/errors.ts";
import type { Message } from "../../../src/core/sessions.ts";
import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { readDetail, readPending } from "../../../src/store/records/messages/read.ts";
import { answerQuestion } from "../../../src/store/records/questions/answer.ts";
import { listOpenQuestions } from "../../../src/store/records/questions/read.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { dyingStore } from "../../helpers/dying-store.ts";
import { openBench } from "../../helpers/exchanger.ts";
import {
  type ModelAnswer,
  type SentMessage,
  startModelServer,
} from "../../helpers/model-server.ts";
import { randomOf, seedOf } from "../../helpers/random.ts";
import { testSize } from "../../helpers/size.ts";

const STEPS = 12;
/** What becomes of an exchange. One that dies does so at one of its writes, if it has as many. */
const WAYS = ["whole", "dies", "dies", "stops", "fails"] as const;
const KINDS = ["say", "read", "pay", "both", "ask", "delegate"] as const;

const usersOf = (messages: readonly { role: string; content: string }[]): readonly string[] =>
  messages.filter(({ role }) => role === "user").map(({ content }) => content);

it("[EXCHANGE-40] [EXCHANGE-2] whatever its exchanges do and die of, a session hands over each message once, in order, and repeats no unsafe call", async () => {
  const seed = seedOf("random-deaths");
  const paid: string[] = [];
  let calls = 0;
  /** Of the act that runs; null once it has happened. */
  let event: "stops" | "fails" | null = null;
  let stop = new AbortController();
  const answer = (messages: readonly SentMessage[]): ModelAnswer => {
    if (event === "stops") {
      event = null;
      stop.abort();
      return { content: "a text that nobody waits for" };
    }
    if (event === "fails") {
      event = null;
      return { error: { message: "the key is wrong" }, status: 401 };
    }
    const at = messages.findLastIndex(({ role }) => role === "user");
    const [kind] = (messages[at]?.content ?? "").split(" ");
    if (messages.length > at + 1 || kind === "say" || kind === "child") {
      return { content: `answer to ${messages[at]?.content}` };
    }
    calls += 1;
    const given = {
      read: { name: "list_files", arguments: '{"path":"."}' },
      pay: { name: "pay", arguments: JSON.stringify({ what: `${calls}` }) },
      ask: { name: "ask_user", arguments: JSON.stringify({ question: `${calls}` }) },
      delegate: { name: "delegate", arguments: JSON.stringify({ task: `child ${calls}` }) },
    };
    const wanted =
      kind === "both" ? (["read", "pay"] as const) : ([kind] as (keyof typeof given)[]);
    return { toolCalls: wanted.map((each) => given[each]) };
  };
  const server = await startModelServer({ answer });
  const pay = tool(({ what }: { what: string }) => `paid ${paid.push(what)}`, {
    name: "pay",
    description: "Pays.",
    schema: z.object({ what: z.string() }),
  });
  const { store, parts, repo } = await openBench(server, {}, { programTools: [pay] });

  for (let life = 0; life < testSize("deaths"); life += 1) {
    const random = randomOf(seed + life);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
    const { id } = await store.write(createSession, { repo_path: repo, permission: "all" });
    const rows = async (): Promise<readonly Message[]> =>
      (await store.read(readDetail, { reference: id, all: true })).messages;
    const story: string[] = [];
    const buried: (() => void)[] = [];
    /** One exchange, with a message or to continue; returns true once it was whole. */
    const act = async (text: string | null, way: (typeof WAYS)[number]): Promise<boolean> => {
      const at = 1 + Math.floor(random() * 12);
      const dying = way === "dies" ? dyingStore(store, at, pick(["before", "after"])) : null;
      story.push(`${text ?? "continue"}: ${way}${dying === null ? "" : ` at ${at}`}`);
      buried.push(() => dying?.bury());
      const before = await rows();
      const waiting = await store.read(readPending, { session_id: id });
      const asked = server.requests().length;
      stop = new AbortController();
      event = way === "stops" || way === "fails" ? way : null;
      const exchanger = createExchanger({ ...parts, store: dying?.store ?? store });
      const run = exchanger
        .exchange(
          { session_id: id, text, when_busy: "take_over" },
          { listener: () => undefined, signal: stop.signal },
        )
        .then(
          ({ state }) => state === "done",
          (error: unknown) => {
            if (isRepriseError(error, "nothing_to_continue")) {
              return true;
            }
            if (isRepriseError(error, "model_unauthorized", "lease_lost")) {
              return false;
            }
            throw error;
          },
        );
      const isWhole = await Promise.race([run, ...(dying === null ? [] : [dying.dead])]);
      event = null;
      const after = await rows();
      const open = before.findLast(({ seq }) => !waiting.some((each) => each.seq === seq));
      const mayResume = text === null && (open?.tool_calls ?? null) !== null;
      const stored = usersOf(text === null ? before : after);
      const resumed = usersOf(before).slice(0, usersOf(before).length - waiting.length);
      for (const messages of server.requests().slice(asked)) {
        const heard = usersOf(messages);
        if (heard[0]?.startsWith("child") !== true) {
          expect([stored, ...(mayResume ? [resumed] : [])]).toContainEqual(heard);
        }
      }
      return isWhole === true;
    };
    try {
      for (let step = 0; step < STEPS; step += 1) {
        const way = pick(WAYS);
        const chance = random();
        const [open] = await store.read(listOpenQuestions, { reference: id });
        if (open !== undefined && chance < 0.3) {
          const { session_id: reference, id: question } = open;
          const given = { given: { text: "a reply" }, note: null, answered_by: "http" } as const;
          await store.write(answerQuestion, { reference, question, ...given });
          story.push("answered");
        } else if (chance < 0.15) {
          await store.write(appendUserMessage, { reference: id, content: `say left ${step}` });
          story.push(`left ${step}`);
        } else {
          await act(chance < 0.5 ? null : `${pick(KINDS)} ${life}.${step}`, way);
        }
      }
      await act("say the last", "whole");
      const last = await rows();
      expect(last.at(-1)?.content).toBe("answer to say the last");
      expect(await store.read(readPending, { session_id: id })).toEqual([]);
      expect((await verifySession(store, id)).findings).toEqual([]);
      expect(server.refused()).toEqual([]);
      expect(paid).toEqual([...new Set(paid)]);
    } catch (error) {
      throw new Error(`seed ${seed + life}: ${story.join("; ")}`, { cause: error });
    } finally {
      buried.forEach((bury) => bury());
    }
  }
});
