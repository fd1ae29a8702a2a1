import { sql } from "kysely";

import { newId } from "../src/core/ids.ts";
import { openPostgresStore } from "../src/store/engines/postgres/open.ts";
import { openSqliteStore } from "../src/store/engines/sqlite/open.ts";
import { forkSession } from "../src/store/checkpoints/forks/fork-session.ts";
import { createSession } from "../src/store/records/sessions/create.ts";
import { deleteSessionTree } from "../src/store/records/sessions/delete-tree.ts";
import type { Operation, Store } from "../src/store/store.ts";
import { fill } from "./fill-thread.ts";
import { type Bench, type Measurement, median } from "./measurement.ts";
import { startPostgres } from "./postgres.ts";
import { temporaryFolder } from "./services.ts";
import { TOOL_ROUNDS } from "./texts.ts";

const MESSAGES = 5000;
/** Messages of an exchange. */
const EXCHANGE = 2 + 2 * TOOL_ROUNDS;
const PAIRS = 21;
const MOST = 3;

/** A fork of a session, against a copy of the rows of its messages alone. */
export const bench: Bench = {
  about: "forks of a session of 5,000 messages, held against a copy of its rows",
  run: async ({ scale }) => {
    using folder = temporaryFolder();
    await using postgres = await startPostgres();
    await using sqlite = await openSqliteStore({ path: `${folder.path}/fork.db` });
    await using other = await openPostgresStore({ url: await postgres.makeDatabase("fork") });
    return [
      ...(await measure({ name: "SQLite", store: sqlite, scale })),
      ...(await measure({ name: "PostgreSQL", store: other, scale })),
    ];
  },
};

interface Measured {
  readonly name: string;
  readonly store: Store;
  readonly scale: number;
}

async function measure({ name, store, scale }: Measured): Promise<Measurement[]> {
  const { id: session_id } = await store.write(createSession, {});
  const exchanges = Math.max(1, Math.round((MESSAGES * scale) / EXCHANGE));
  await fill(store, { session_id, exchanges, rounds: TOOL_ROUNDS });
  const before = await bodyBytes(store);
  const times = { fork: [] as number[], copy: [] as number[] };
  let bytes = 0;
  for (let pair = -1; pair < Math.max(3, Math.round(PAIRS * scale)); pair += 1) {
    const fork = await timed(() => store.write(forkSession, { session_id }));
    bytes = Math.max(bytes, (await bodyBytes(store)) - before);
    await store.write(deleteSessionTree, { id: fork.result.id });
    const copy = await timed(() => store.write(copyRows, { session_id }));
    await store.write(deleteSessionTree, { id: copy.result });
    if (pair >= 0) {
      times.fork.push(fork.ms);
      times.copy.push(copy.ms);
    }
  }
  const messages = exchanges * EXCHANGE;
  return [
    {
      what: `${name}: a fork of ${messages} messages`,
      unit: "ms",
      ours: median(times.fork),
      floor: median(times.copy),
      reach: { at_most: MOST },
    },
    {
      what: `${name}: bytes of bodies that a fork adds`,
      unit: "B",
      ours: bytes,
      floor: null,
      reach: { at_most: 0 },
    },
  ];
}

async function timed<Result>(work: () => Promise<Result>) {
  const begun = performance.now();
  const result = await work();
  return { result, ms: performance.now() - begun };
}

/** Copies a session's row and those of its messages, as a program would that knows nothing of checkpoints. */
const copyRows: Operation<{ readonly session_id: string }, string> = async (
  { db },
  { session_id },
) => {
  const id = newId();
  await sql`insert into sessions (id, root_session_id, persona_name, model, title, last_seq, last_message_at)
    select ${id}, ${id}, persona_name, model, title, last_seq, last_message_at
    from sessions where id = ${session_id}`.execute(db);
  await sql`insert into messages (session_id, seq, message_id, role, call_id, status, token_count,
      is_summary, archived, ts, checkpointed, origin, authenticated, content, tool_calls)
    select ${id}, seq, message_id, role, call_id, status, token_count,
      is_summary, archived, ts, checkpointed, origin, authenticated, content, tool_calls
    from messages where session_id = ${session_id}`.execute(db);
  return id;
};

function bodyBytes(store: Store): Promise<number> {
  return store.read(async ({ db }) => {
    const { rows } = await sql<{ bytes: number }>`
      select cast(coalesce(sum(octet_length(body)), 0) as bigint) as bytes
      from checkpoint_bodies`.execute(db);
    return rows[0]?.bytes ?? 0;
  }, null);
}
