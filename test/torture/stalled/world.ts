import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";

import { newId } from "../../../src/core/ids.ts";
import { createKeeper } from "../../../src/workspace/undo/keeper.ts";
import { createKeptBytes } from "../../../src/workspace/undo/kept-bytes.ts";
import { keyOfMessage } from "../../../src/store/records/exchanges/client-ids.ts";
import { openSqliteStore } from "../../../src/store/engines/sqlite/open.ts";
import type { Fence } from "../../../src/store/records/leases/fence.ts";
import { releaseLease, takeLease } from "../../../src/store/records/leases/lease.ts";
import { thisProcess } from "../../../src/store/records/leases/this-process.ts";
import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { beginExchange } from "../../../src/store/records/messages/begin-exchange.ts";
import { insertQuestion } from "../../../src/store/records/questions/ask.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import type { Store } from "../../../src/store/store.ts";

/** What the service has so that each of its routes gives a large answer. */
export interface World {
  /** A session of 60 messages of 400 KB, and one of 60 messages of 1 MB. */
  readonly long: string;
  readonly wide: string;
  /** Its exchange waits for the answers to 50 long questions. */
  readonly asking: string;
  /** Its first exchange has changed files, with diffs of a million characters. */
  readonly changed: string;
  /** Its last exchange has ended; it began with this message of an AG-UI client. */
  readonly talked: { readonly id: string; readonly message: string; readonly text: string };
  readonly small: string;
  /** The id of the first event of all sessions. */
  readonly firstEvent: string;
}

const LABELLED = 200;
const QUESTIONS = 50;
const FILES = 25;

/** Fills a database, and keeps the bytes of changed files below the home. */
export async function makeWorld(database: string, home: string): Promise<World> {
  await using store = await openSqliteStore({ path: database });
  const metadata = Object.fromEntries(
    Array.from({ length: 16 }, (_, index) => [`key_${index}`, text(512)]),
  );
  for (let index = 0; index < LABELLED; index += 1) {
    await store.write(createSession, { metadata });
  }
  return {
    long: await sessionOf(store, 60, 400_000),
    wide: await sessionOf(store, 60, 1_000_000),
    asking: await askingSession(store),
    changed: await changedSession(store, join(home, ".local/state/reprise/undo")),
    talked: await talkedSession(store),
    small: await sessionOf(store, 3, 100),
    firstEvent: await firstEvent(store),
  };
}

/** What no compression makes much smaller. */
function text(length: number): string {
  return randomBytes(length).toString("base64").slice(0, length);
}

async function sessionOf(store: Store, messages: number, length: number): Promise<string> {
  const { id } = await store.write(createSession, {});
  for (let index = 0; index < messages; index += 1) {
    await store.write(appendUserMessage, { reference: id, content: text(length) });
  }
  return id;
}

/** Runs in an exchange of the session, and ends it. */
async function exchangeIn(
  store: Store,
  session_id: string,
  { content, end = "done" }: { readonly content: string; readonly end?: "done" | "waiting" },
  work: (fence: Fence) => Promise<unknown> = () => Promise.resolve(),
): Promise<void> {
  const owner = thisProcess("torture");
  const fence = await store.write(takeLease, { session_id, owner, life_ms: 600_000 });
  await store.write(beginExchange, { fence, content, model: "demo", persona_name: "assistant" });
  await work(fence);
  await store.write(releaseLease, { fence, finished: end === "done", end });
}

async function askingSession(store: Store): Promise<string> {
  const { id } = await store.write(createSession, {});
  const ask = async (): Promise<void> => {
    for (let index = 0; index < QUESTIONS; index += 1) {
      const question = {
        id: newId(),
        call_id: `call_${index}`,
        number: 1,
        kind: "question",
        text: text(20_000),
        choices: null,
        permission: null,
        shown_hash: "0".repeat(64),
        default: null,
      } as const;
      await store.write(
        (tx) => insertQuestion(tx, { session_id: id, thread_suffix: 0 }, question),
        null,
      );
    }
  };
  await exchangeIn(store, id, { content: "a question", end: "waiting" }, ask);
  return id;
}

async function changedSession(store: Store, folder: string): Promise<string> {
  const { id } = await store.write(createSession, {});
  const kept = createKeptBytes(folder);
  await exchangeIn(store, id, { content: "a change" }, async (fence) => {
    const keep = createKeeper({ store, fence, n: () => 1, kept });
    for (let index = 0; index < FILES; index += 1) {
      const bytes = Buffer.from(Array.from({ length: 1000 }, () => text(50)).join("\n"));
      const after = { kind: "file", mode: 0o644, size: bytes.length, bytes } as const;
      await keep(
        { call_id: `call_${index}`, tool: "write_file", root: "/srv/none" },
        [{ path: `${index}.txt`, before: null, after }],
        () => Promise.resolve(),
      );
    }
  });
  return id;
}

async function talkedSession(store: Store): Promise<World["talked"]> {
  const id = await sessionOf(store, 60, 400_000);
  const [message, question] = ["message-1", "hello"];
  await exchangeIn(store, id, { content: "the first" });
  await exchangeIn(store, id, { content: question });
  await store.write(
    ({ db }) =>
      db
        .updateTable("exchanges")
        .set({ idempotency_key: keyOfMessage(message), request: requestOf(question) })
        .where("session_id", "=", id)
        .where("n", "=", 2)
        .execute(),
    null,
  );
  return { id, message, text: question };
}

async function firstEvent(store: Store): Promise<string> {
  const { id } = await store.read(
    ({ db }) => db.selectFrom("change_numbers").select("id").executeTakeFirstOrThrow(),
    null,
  );
  return `${id}-1`;
}

/** As `queueExchange` recognizes a request that is sent again. */
function requestOf(content: string): string {
  return createHash("sha256")
    .update(JSON.stringify([content]))
    .digest("hex");
}
