import { setTimeout as sleep } from "node:timers/promises";

import { sql } from "kysely";
import { expect, it } from "vitest";

import { addShare } from "../../src/store/records/access/shares.ts";
import { deleteRequested } from "../../src/store/requests.ts";
import type { Store } from "../../src/store/store.ts";
import { describeEngine } from "../helpers/engines.ts";
import { queue } from "../helpers/queue.ts";
import { seededRandom } from "../helpers/random.ts";
import { routesOfService } from "../helpers/routes-of-service.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";
import { testSize } from "../helpers/size.ts";
import { waitingSession } from "../helpers/waiting-session.ts";

const ROUNDS = testSize("deleted-meanwhile");
const token = "the-token";
const authorization = `Bearer ${token}`;

/** The body of each call of a session that takes one, so that the call changes something. */
const BODIES: Readonly<Record<string, object>> = {
  "PATCH /api/sessions/{id}": { name: "named", permission: "plan", metadata: { of: "it" } },
  "PATCH /api/sessions/{id}/exchanges/{n}": { content: "other" },
  "POST /api/sessions/{id}/end": {},
  "POST /api/sessions/{id}/fork": {},
  "POST /api/sessions/{id}/messages": { content: "hello" },
  "POST /api/sessions/{id}/exchanges": { content: "hello", supersede: true },
  "POST /api/sessions/{id}/exchanges/{n}/redo": {},
  "POST /api/sessions/{id}/exchanges/{n}/stop": {},
  "POST /api/sessions/{id}/exchanges/{n}/undo": {},
  "POST /api/sessions/{id}/questions/{q}/answer": { choice: "1" },
  "POST /api/sessions/{id}/shares": {},
  "POST /api/sessions/{id}/ui/ag-ui": {
    threadId: "t",
    runId: "r",
    state: {},
    tools: [],
    context: [],
    forwardedProps: {},
    messages: [{ id: "m", role: "user", content: "hello" }],
  },
  "POST /api/sessions/{id}/ui/ai-sdk": {
    trigger: "submit-message",
    messages: [{ role: "user", id: "m", parts: [{ type: "text", text: "hello" }] }],
  },
};

/** Calls that are tried with an `Idempotency-Key` too: they look for what an earlier one stored. */
const WITH_KEY = ["POST /api/sessions/{id}/messages", "POST /api/sessions/{id}/exchanges"];

interface Call {
  readonly route: string;
  readonly hasKey: boolean;
}

async function callsOfSessions(): Promise<readonly Call[]> {
  const routes = (await routesOfService()).filter((route) => route.includes(" /api/sessions/{id}"));
  const taking = routes.filter((route) => /^(POST|PATCH|PUT) /.test(route));
  // a new route needs a body here
  expect(taking.toSorted()).toEqual(Object.keys(BODIES).toSorted());
  return routes.flatMap((route) => [
    { route, hasKey: false },
    ...(WITH_KEY.includes(route) ? [{ route, hasKey: true }] : []),
  ]);
}

/** A session with a question, an exchange that waits, one that is queued, and a link. */
async function fullSession(store: Store) {
  const { id, ids } = await waitingSession(store, ["yes", "no"]);
  await queue(store, id, "later");
  const share = await store.write(addShare, { reference: id, hash: `hash of ${id}`, days: 1 });
  return { id, n: "2", q: ids[0] ?? "", share: share.id };
}

async function call(
  t: TestServer,
  { route, hasKey }: Call,
  session: Record<string, string>,
  onAnswer: () => void = () => undefined,
) {
  const [method = "", path = ""] = route.split(" ");
  const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => session[name] ?? name);
  const body = BODIES[route];
  const answer = await fetch(`${t.url}${target}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: {
      authorization,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(hasKey ? { "idempotency-key": "a key" } : {}),
    },
  });
  onAnswer();
  const { status } = answer;
  // a stream that has begun may end early
  const text = await answer.text().catch(() => "");
  return `${route}${hasKey ? " with a key" : ""}: ${status}${status < 400 ? "" : ` ${text}`}`;
}

const isFault = (answer: string): boolean => /: 5\d\d/.test(answer);

/** True while a statement of the database waits for a lock that another transaction holds. */
function waitsForLock(store: Store): Promise<boolean> {
  return store.read(async ({ db }) => {
    const waiting = await sql`
      SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(db);
    return waiting.rows.length > 0;
  }, null);
}

describeEngine("a session that is deleted meanwhile", (engine) => {
  it("[HTTP-234] no call of a session meets its deletion with an error of the service", async () => {
    const isPostgres = engine.name === "postgres";
    const store = await (await engine.create()).open();
    await using t = await startTestServer({ store, token });
    const answers: string[] = [];
    for (const each of await callsOfSessions()) {
      const session = await fullSession(store);
      const deleted = Promise.withResolvers<void>();
      const gate = Promise.withResolvers<void>();
      // on PostgreSQL the call finds the session, and waits for its row until it is gone
      const deleting = store.write(
        async (tx, input: { readonly reference: string }) => {
          await deleteRequested(tx, input);
          deleted.resolve();
          await gate.promise;
        },
        { reference: session.id },
      );
      await deleted.promise;
      let isAnswered = false;
      const calling = call(t, each, session, () => (isAnswered = true));
      do {
        await sleep(5);
      } while (!isAnswered && isPostgres && !(await waitsForLock(store)));
      gate.resolve();
      await deleting;
      answers.push(await calling);
    }
    console.log(`${engine.name}: ${answers.length} calls`);
    expect(answers.filter(isFault)).toEqual([]);
    expect(t.log.filter(({ event }) => event === "failure")).toEqual([]);
  });

  it.runIf(ROUNDS > 0)("[HTTP-234] nor at any other moment", async () => {
    const random = seededRandom("deleted-meanwhile");
    const store = await (await engine.create()).open();
    await using t = await startTestServer({ store, token });
    const calls = await callsOfSessions();
    const faults: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const each of calls) {
        const session = await fullSession(store);
        const later = () => sleep(random() * 4);
        const [, ...answers] = await Promise.all([
          later().then(() =>
            t.call("DELETE", `/api/sessions/${session.id}`, { headers: { authorization } }),
          ),
          ...[0, 1, 2].map(() => later().then(() => call(t, each, session))),
        ]);
        faults.push(...answers.filter(isFault));
      }
    }
    console.log(`${engine.name}: ${ROUNDS} rounds of ${calls.length} calls`);
    expect(faults).toEqual([]);
  });
});
