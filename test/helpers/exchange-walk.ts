import { expect } from "vitest";

import { newId } from "../../src/core/ids.ts";
import {
  changeQueued,
  stopExchange,
  withdrawQueued,
} from "../../src/store/records/exchanges/change.ts";
import {
  findDead,
  findUnready,
  makeReady,
  reviveDead,
} from "../../src/store/records/exchanges/revive.ts";
import type { Fence } from "../../src/store/records/leases/fence.ts";
import { finishExchange } from "../../src/store/checkpoints/finish.ts";
import { releaseLease, takeLease } from "../../src/store/records/leases/lease.ts";
import { beginExchange } from "../../src/store/records/messages/begin-exchange.ts";
import { answerQuestion } from "../../src/store/records/questions/answer.ts";
import { insertQuestion } from "../../src/store/records/questions/ask.ts";
import { endSession, startThread } from "../../src/store/records/sessions/change.ts";
import { deleteSessionTree } from "../../src/store/records/sessions/delete-tree.ts";
import type { Store } from "../../src/store/store.ts";
import { verifySession } from "../../src/store/verify/verify-session.ts";
import { newSession, owner } from "./engines.ts";
import { type End, ExchangeModel } from "./exchange-model.ts";
import { claim, expire, queue, readyOf } from "./queue.ts";
import { expectLegal, questionsOf, type Seen, seen } from "./seen-exchanges.ts";

const WITH = { model: "demo:echo", persona_name: "assistant" };

export type Act = keyof ReturnType<typeof actsOf>;
/** Picks one of so many, by chance. */
export type Pick = (count: number) => number;

/** One session and its model: each act is done to both, and both have to agree. */
export async function createWalk(store: Store, pick: Pick = () => 0) {
  const { id } = await newSession(store);
  const model = new ExchangeModel();
  const acts = actsOf({ store, id, model, pick, fence: null, suffix: 0, told: 0 });
  let before: readonly Seen[] = [];
  return {
    id,
    possible: (): readonly Act[] => possible(model),
    async act(act: Act): Promise<void> {
      await acts[act]();
      const now = await seen(store, id);
      expect(now.map(({ state, attempts }) => ({ state, attempts }))).toEqual(
        model.records.map(({ state, attempts }) => ({ state, attempts })),
      );
      expectLegal(before, now);
      before = now;
      expect(await questionsOf(store, id)).toEqual(
        new Map(model.questions.map((question) => [question.id, question.state])),
      );
      expect((await verifySession(store, id)).findings).toEqual([]);
    },
    states: async () => (await seen(store, id)).map(({ state }) => state),
    /** Deletes it; nothing of it is left. */
    async remove(): Promise<void> {
      const removal = store.write(deleteSessionTree, { id });
      if (model.isHeld) {
        await expect(removal).rejects.toMatchObject({ code: "session_busy" });
        return;
      }
      await removal;
      expect((await readyOf(store)).filter(({ session_id }) => session_id === id)).toEqual([]);
      expect(await questionsOf(store, id)).toEqual(new Map());
    },
  };
}

interface Walk {
  readonly store: Store;
  readonly id: string;
  readonly model: ExchangeModel;
  readonly pick: Pick;
  fence: Fence | null;
  suffix: number;
  /** Counts keys, texts and calls. */
  told: number;
}

const ALWAYS = ["post", "supersede", "repeat", "change", "withdraw", "stop", "continue"] as const;
const FREE = ["claim", "claim", "revive", "ask", "resume", "clear", "model", "compact"] as const;
const HELD = ["finish", "leave", "fail", "cut", "give_back", "question", "park", "die"] as const;

function possible({ hasEnded, isHeld, records, questions }: ExchangeModel): readonly Act[] {
  const some = records.length > 0 ? ALWAYS : (["post"] as const);
  const answers = questions.length > 0 ? (["answer", "answer"] as const) : [];
  if (hasEnded) {
    return [...some, ...answers];
  }
  return isHeld
    ? [...some, ...answers, ...HELD, ...HELD, "end"]
    : [...some, ...answers, ...FREE, ...FREE, "end"];
}

function actsOf(walk: Walk) {
  const { store, id, model, pick } = walk;
  const any = () => 1 + pick(model.records.length);
  const leave = async (end: End, finished: boolean): Promise<void> => {
    const fence = walk.fence!;
    walk.fence = null;
    if (end === "done") {
      await store.write(finishExchange, { fence, thread_id: `${id}:${walk.suffix}` });
    } else {
      const failure = end === "failed" ? { code: "model_failed", sentence: "No." } : null;
      await store.write(releaseLease, { fence, finished, end, failure });
    }
    model.end(end, finished);
  };
  const post = async (content: string | null, supersede = false): Promise<void> => {
    const key = pick(2) === 0 ? `key ${(walk.told += 1)}` : null;
    const more = { idempotency_key: key ?? undefined, supersede };
    await agree(queue(store, id, content, more), model.queue(content, key, supersede));
  };
  const type = async (content: string | null): Promise<void> => {
    const fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
    const begun = await store.write(beginExchange, { fence, content, ...WITH });
    const n = model.type(content);
    expect(begun.record?.n ?? null).toBe(n);
    if (n === null) {
      await store.write(releaseLease, { fence, finished: true, end: null });
    } else {
      walk.fence = fence;
    }
  };
  const compact = async (): Promise<void> => {
    const fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
    await store.write(releaseLease, { fence, finished: false, end: null });
    model.settle();
  };
  const freshThread = async (archive: boolean): Promise<void> => {
    const { thread_suffix } = await store.write(startThread, {
      id,
      archive,
      ...(archive ? {} : { model: "demo" }),
    });
    walk.suffix = thread_suffix;
    model.freshThread(archive);
  };
  const revive = async (): Promise<void> => {
    await reviveAll(store, id);
    model.revive();
  };
  return {
    post: () => post("a question"),
    supersede: () => post("another question", true),
    continue: () => post(null),
    repeat: async () => {
      const known = model.records.findLast(({ key }) => key !== null);
      const more = { idempotency_key: known?.key ?? "unknown" };
      if (known !== undefined) {
        const n = model.queue("", known.key);
        const again = await Promise.allSettled([
          queue(store, id, "a question", more),
          queue(store, id, "another question", { ...more, supersede: true }),
          queue(store, id, null, more),
        ]);
        const found = again.map((each): unknown =>
          each.status === "fulfilled" ? each.value.n : each.reason.code,
        );
        expect(found.filter((each) => each !== n)).toEqual(REUSED);
      }
    },
    change: async () => {
      const [n, content] = [any(), `changed ${(walk.told += 1)}`];
      const change = store.write(changeQueued, { reference: id, n, content });
      await agree(change, model.change(n, content));
    },
    withdraw: async () => {
      const n = any();
      await agree(store.write(withdrawQueued, { reference: id, n }), model.withdrawExchange(n));
    },
    stop: async () => {
      const n = any();
      await agree(store.write(stopExchange, { reference: id, n }), model.stop(n));
    },
    claim: async () => {
      await revive();
      const [next] = (await readyOf(store)).filter(({ session_id }) => session_id === id);
      const n = model.ready();
      expect(next?.n ?? null).toBe(n);
      if (next !== undefined && n !== null) {
        expect(next.content).toBe(model.records[n - 1]?.content);
        walk.fence = await claim(store, next);
        model.claim(n);
      }
    },
    revive,
    ask: () => type("typed"),
    resume: () => type(null),
    finish: () => leave("done", true),
    leave: () => leave("stopped", pick(2) === 0),
    fail: () => leave("failed", false),
    cut: () => leave("interrupted", false),
    give_back: () => leave("queued", false),
    park: async () => {
      await askPerson(walk);
      await leave("waiting", false);
    },
    question: () => askPerson(walk),
    answer: async () => {
      const question = model.questions[pick(model.questions.length)]!.id;
      const continues = pick(3) === 0;
      const given = {
        reference: id,
        question,
        given: { text: "yes" },
        note: null,
        continues,
      } as const;
      const answer = store.write(answerQuestion, { ...given, answered_by: "http" });
      await agree(answer, model.answer(question, continues));
    },
    die: async () => {
      await expire(store, id);
      walk.fence = null;
      model.die();
    },
    clear: () => freshThread(true),
    model: () => freshThread(false),
    compact,
    end: async () => {
      await store.write(endSession, { id });
      walk.fence = null;
      model.endSession();
    },
  };
}

const REUSED = ["idempotency_key_reused", "idempotency_key_reused"];

/** What was done answers with the number, or is refused with the code, that the model says. */
async function agree(done: Promise<object>, expected: number | string | null): Promise<void> {
  if (typeof expected === "string") {
    await expect(done).rejects.toMatchObject({ code: expected });
  } else {
    await expect(done).resolves.toMatchObject(expected === null ? {} : { n: expected });
  }
}

async function askPerson({ store, id, model, suffix, told }: Walk): Promise<void> {
  const question = newId();
  const asked = {
    id: question,
    call_id: `call_${told}_${model.questions.length}`,
    number: 1,
    kind: "question",
    text: "Really?",
    choices: null,
    permission: null,
    shown_hash: "0".repeat(64),
    default: null,
  } as const;
  const thread = { session_id: id, thread_suffix: suffix };
  await store.write((tx) => insertQuestion(tx, thread, asked), null);
  model.questions.push({ id: question, state: "open" });
}

/** What each node does every few seconds. */
async function reviveAll(store: Store, id: string): Promise<void> {
  if ((await store.read(findDead, null)).includes(id)) {
    await store.write(reviveDead, { id });
  }
  if ((await store.read(findUnready, null)).includes(id)) {
    await store.write(makeReady, { id });
  }
}
