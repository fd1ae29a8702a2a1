import { fileURLToPath } from "node:url";

import fc from "fast-check";
import { expect, it, onTestFinished } from "vitest";

import { createExchanger } from "../../src/agent/exchange.ts";
import type { AgentOptions } from "../../src/agent/exchange-context.ts";
import { modelConfig } from "../../src/rules/models/config.ts";
import { verifySession } from "../../src/store/verify/verify-session.ts";
import { repair } from "../helpers/sessions/repair.ts";
import { thisProcess } from "../../src/store/records/leases/this-process.ts";
import { beginThread } from "../../src/exchange/start-thread.ts";
import type { Message } from "../../src/core/sessions.ts";
import { appendUserMessage } from "../../src/store/records/messages/append.ts";
import { readMessagesAfter } from "../../src/store/records/messages/read.ts";
import { endSession } from "../../src/store/records/sessions/change.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { readSession, resolveSession } from "../../src/store/records/sessions/read.ts";
import type { Store } from "../../src/store/store.ts";
import { createDatabase } from "../helpers/database.ts";
import { openStoreAt } from "../helpers/open-store.ts";
import { seededRandom } from "../helpers/random.ts";
import { execute } from "../helpers/engines.ts";
import { type ModelSession, StateModel } from "../helpers/state-model.ts";
import { TRUSTED } from "../helpers/trust.ts";
import { testSize } from "../helpers/size.ts";

/** Orders that are tried; see `npm run torture`. */
const RUNS = testSize("state-table");

interface Real {
  readonly store: Store;
  readonly parts: AgentOptions;
}

type Command = fc.AsyncCommand<StateModel, Real>;

it("[STATE-1] every order of actions leaves the state that the model of the state table predicts", async () => {
  const seed = Math.floor(seededRandom("state-table")() * 2 ** 31);
  const real = await openReal();
  await fc.assert(
    fc.asyncProperty(fc.commands(commandArbitraries(), { maxCommands: 14 }), async (commands) => {
      await fc.asyncModelRun(async () => {
        const model = new StateModel();
        model.create((await real.store.write(createSession, {})).id, null);
        return { model, real };
      }, commands);
    }),
    { numRuns: RUNS, seed },
  );
});

async function openReal(): Promise<Real> {
  const database = await createDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const store = await openStoreAt(database.location);
  onTestFinished(() => store.close());
  return {
    store,
    parts: {
      store,
      models: modelConfig({}),
      personas: {
        userDir: null,
        builtinDir: fileURLToPath(new URL("../../personas", import.meta.url)),
        trust: TRUSTED,
      },
      protectedPaths: [database.location],
      owner: thisProcess("state-table"),
    },
  };
}

function commandArbitraries(): fc.Arbitrary<Command>[] {
  const which = fc.nat(5);
  const text = fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" }).filter(isPlain);
  return [
    fc.constant(
      command("create", async (model, real) => {
        model.create((await real.store.write(createSession, {})).id, null);
      }),
    ),
    fc.tuple(which, text).map(([index, content]) =>
      onSession(`append ${index}`, index, async (model, real, session) => {
        const reference = session.id;
        await refusedWhenEnded(
          session,
          real.store.write(appendUserMessage, { reference, content }),
          () => model.append(session, content),
        );
      }),
    ),
    fc.tuple(which, text).map(([index, content]) =>
      onSession(`exchange ${index}`, index, async (model, real, session) => {
        await refusedWhenEnded(session, exchange(real.parts, session.id, content), () =>
          model.exchange(session, content),
        );
      }),
    ),
    which.map((index) => onSession(`continue ${index}`, index, continueSession)),
    fc.tuple(which, fc.constantFrom("clear", "model", "agent")).map(([index, kind]) =>
      onSession(`${kind} ${index}`, index, async (model, real, session) => {
        const change = {
          id: session.id,
          archive: kind === "clear",
          ...(kind === "model" ? { model: "demo:other" } : {}),
          ...(kind === "agent" ? { persona_name: "reviewer" } : {}),
        };
        await refusedWhenEnded(session, beginThread(real.store, change), () =>
          model.freshThread(session, kind === "clear"),
        );
      }),
    ),
    which.map((index) =>
      onSession(`end ${index}`, index, async (model, real, session) => {
        await real.store.write(endSession, { id: session.id });
        model.end(session);
      }),
    ),
    which.map((index) => onSession(`child ${index}`, index, createChild)),
    fc
      .tuple(which, fc.nat(9), text)
      .map(([index, writes, content]) =>
        onSession(`crash ${index} after ${writes} writes`, index, (model, real, session) =>
          crash({ model, real, session, writes, content }),
        ),
      ),
    which.map((index) =>
      onSession(`resume ${index}`, index, async (_model, real, session) => {
        const found = await real.store.read(resolveSession, { reference: session.id.slice(0, 13) });
        expect(found.id).toBe(session.id);
      }),
    ),
    fc
      .tuple(which, fc.nat(3))
      .map(([index, kind]) =>
        onSession(`damage ${index} (${kind}) and repair`, index, (_model, real, session) =>
          damageAndRepair(real, session, kind),
        ),
      ),
  ];
}

function isPlain(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

function command(name: string, run: (model: StateModel, real: Real) => Promise<void>): Command {
  return {
    check: () => true,
    run: async (model, real) => {
      await run(model, real);
      await expectAgreement(model, real);
    },
    toString: () => name,
  };
}

function onSession(
  name: string,
  index: number,
  run: (model: StateModel, real: Real, session: ModelSession) => Promise<void>,
): Command {
  return {
    ...command(name, async (model, real) => {
      const session = model.pick(index);
      if (session !== null) {
        await run(model, real, session);
      }
    }),
    check: (model) => model.sessions.length > 0,
  };
}

/** An action that an ended session refuses; else it succeeds and the model follows. */
async function refusedWhenEnded(
  session: ModelSession,
  action: Promise<unknown>,
  follow: () => void,
): Promise<void> {
  if (session.ended) {
    await expect(action).rejects.toMatchObject({ code: "session_ended" });
    return;
  }
  await action;
  follow();
}

function exchange(parts: AgentOptions, session_id: string, text: string | null) {
  const live = { listener: () => undefined, signal: new AbortController().signal };
  return createExchanger(parts).exchange({ session_id, text }, live);
}

async function continueSession(
  model: StateModel,
  real: Real,
  session: ModelSession,
): Promise<void> {
  const action = exchange(real.parts, session.id, null);
  if (session.ended) {
    await expect(action).rejects.toMatchObject({ code: "session_ended" });
  } else if (session.crashed) {
    // the process may have died before it began, or after it was done
    await action.catch((error: unknown) => {
      expect(error).toMatchObject({ code: "nothing_to_continue" });
    });
    model.adoptAnswer(session, await rowsOf(real, session.id));
  } else if (session.pending === 0) {
    await expect(action).rejects.toMatchObject({ code: "nothing_to_continue" });
  } else {
    await action;
    model.exchange(session, null);
  }
}

async function createChild(model: StateModel, real: Real, parent: ModelSession): Promise<void> {
  const action = real.store.write(createSession, {
    parent_session_id: parent.id,
    depth: parent.depth + 1,
  });
  if (parent.depth >= 3) {
    await expect(action).rejects.toMatchObject({ code: "depth_exceeded" });
    return;
  }
  try {
    model.create((await action).id, parent);
  } catch (error) {
    // an ended parent may refuse: then it begins nothing
    expect(parent.ended, String(error)).toBe(true);
  }
}

/** A process that dies at its nth write: neither that one nor any later one is run. */
async function crash(input: {
  model: StateModel;
  real: Real;
  session: ModelSession;
  writes: number;
  content: string;
}): Promise<void> {
  const { model, real, session, content } = input;
  let left = input.writes;
  const dying: Store = {
    ...real.store,
    write: (operation, value) =>
      left-- > 0 ? real.store.write(operation, value) : Promise.reject(new Error("died")),
  };
  const owner = { ...real.parts.owner, pid: GONE };
  await exchange({ ...real.parts, store: dying, owner }, session.id, content).catch(
    () => undefined,
  );
  model.adopt(session, await rowsOf(real, session.id));
}

/** The number of a process that certainly is not there: Linux gives out none above 2 ** 22. */
const GONE = 2 ** 22 + 1;

const DAMAGE = [
  "UPDATE messages SET content = content || '!' WHERE session_id = ? AND checkpointed = 1",
  "DELETE FROM messages WHERE session_id = ? AND checkpointed = 1 AND seq = 1",
  // one row: against two or more the clear mark gives way (PROOF-20)
  "UPDATE messages SET archived = 1 - archived WHERE session_id = ? AND seq = 1",
  "UPDATE sessions SET total_output_tokens = total_output_tokens + 7 WHERE id = ?",
];

async function damageAndRepair(real: Real, session: ModelSession, kind: number): Promise<void> {
  const { id } = session;
  const { activity } = await real.store.read(readSession, { id });
  const changes = await execute(real.store, DAMAGE[kind] ?? "", id);
  const damaged = (await verifySession(real.store, id)).findings;
  expect(damaged.length > 0).toBe(changes > 0);
  await repair(real.store, id, real.parts.owner);
  const again = await repair(real.store, id, real.parts.owner);
  expect(again.findings).toEqual([]);
  expect(["idle", "interrupted", activity]).toContain(
    (await real.store.read(readSession, { id })).activity,
  );
}

async function expectAgreement(model: StateModel, real: Real): Promise<void> {
  for (const session of model.sessions) {
    const stored = await real.store.read(readSession, { id: session.id });
    const rows = await rowsOf(real, session.id);
    expect({
      state: stored.state,
      suffix: stored.thread_suffix,
      depth: stored.depth,
      parent: stored.parent_session_id,
      last_seq: stored.last_seq,
      rows: rows.map(({ role, content, archived }) => ({
        role,
        content: role === "user" ? content : null,
        archived,
      })),
    }).toEqual({
      state: session.ended ? "ended" : "active",
      suffix: session.suffix,
      depth: session.depth,
      parent: session.parent?.id ?? null,
      last_seq: session.messages.length,
      rows: session.messages,
    });
    expect((await verifySession(real.store, session.id)).findings).toEqual([]);
  }
}

function rowsOf(real: Real, session_id: string): Promise<readonly Message[]> {
  return real.store.read(readMessagesAfter, { session_id, after_seq: 0, all: true, limit: 1000 });
}
