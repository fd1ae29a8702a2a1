import fc from "fast-check";
import { expect, it } from "vitest";

import { LIST_ORDERS, type Session } from "../../../../src/core/sessions.ts";
import { appendUserMessage } from "../../../../src/store/records/messages/append.ts";
import { endSession } from "../../../../src/store/records/sessions/change.ts";
import {
  type ListInput,
  type ListPosition,
  listSessions,
  type StoredSessionPage,
} from "../../../../src/store/records/sessions/list.ts";
import type { Store } from "../../../../src/store/store.ts";
import { seededRandom } from "../../../helpers/random.ts";
import { describeEngines, execute, newSession, openFresh } from "../../../helpers/engines.ts";
import { testSize } from "../../../helpers/size.ts";

describeEngines("listSessions", (engine) => {
  it("is empty at first and has no next page", async () => {
    const store = await openFresh(engine);

    expect(await store.read(listSessions, { limit: 1 })).toEqual({ sessions: [], next: null });
  });

  it("[STORE-11] puts the latest activity first: the last message, or the creation before it", async () => {
    const store = await openFresh(engine);
    const [oldest, middle, newest] = [
      await insertAt(store, "2026-01-01T00:00:00.000Z"),
      await insertAt(store, "2026-01-02T00:00:00.000Z"),
      await insertAt(store, "2026-01-03T00:00:00.000Z"),
    ];
    expect(await idsOf(store, { limit: 10 })).toEqual([newest, middle, oldest]);

    await store.write(appendUserMessage, { reference: oldest, content: "news" });

    expect(await idsOf(store, { limit: 10 })).toEqual([oldest, newest, middle]);
  });

  it("keeps ended sessions in the list and filters by state, project and parent", async () => {
    const store = await openFresh(engine);
    const ended = await newSession(store, { project_key: "0123456789abcdef" });
    const parent = await newSession(store, { project_key: "fedcba9876543210" });
    const child = await newSession(store, { parent_session_id: parent.id });
    await store.write(endSession, { id: ended.id });
    const set = async (input: Omit<ListInput, "limit">) =>
      new Set(await idsOf(store, { ...input, limit: 10 }));

    expect(await set({})).toEqual(new Set([ended.id, parent.id, child.id]));
    expect(await set({ state: "ended" })).toEqual(new Set([ended.id]));
    expect(await set({ state: "active" })).toEqual(new Set([parent.id, child.id]));
    expect(await set({ project_key: "0123456789abcdef" })).toEqual(new Set([ended.id]));
    expect(await set({ project_key: "0123456789abcdef", state: "active" })).toEqual(new Set());
    expect(await set({ parent_session_id: parent.id })).toEqual(new Set([child.id]));
  });

  it("[STORE-11] shows every session on exactly one page, even if times are equal", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ day: fc.integer({ min: 1, max: 3 }), ended: fc.boolean() }), {
          maxLength: 24,
        }),
        fc.integer({ min: 1, max: 7 }),
        fc.constantFrom(undefined, "active" as const, "ended" as const),
        fc.constantFrom(...LIST_ORDERS),
        async (made, limit, state, order) => {
          await using store = await (await engine.create()).open();
          const expected: string[] = [];
          for (const { day, ended } of made) {
            const id = await insertAt(store, `2026-01-0${day}T00:00:00.000Z`, ended);
            if (state === undefined || (state === "ended") === ended) {
              expected.push(id);
            }
          }

          const pages = await allPages(store, {
            limit,
            order,
            ...(state === undefined ? {} : { state }),
          });

          const listed = pages.flat();
          expect(listed.map(({ id }) => id).toSorted()).toEqual(expected.toSorted());
          expect(listed).toEqual(
            order === "activity" ? listed.toSorted(byActivity) : listed.toSorted(byCreation),
          );
          for (const page of pages.slice(0, -1)) {
            expect(page).toHaveLength(limit);
          }
        },
      ),
      { numRuns: testSize("texts") },
    );
  });

  it("[STORE-65] in the order of creation, pages lose no session that gets a message meanwhile", async () => {
    const store = await openFresh(engine);
    const ids: string[] = [];
    for (let index = 0; index < 30; index += 1) {
      ids.push(await insertAt(store, `2026-01-0${1 + (index % 3)}T00:00:00.000Z`));
    }
    const random = seededRandom("pages of sessions");
    const listed: string[] = [];
    let after: ListPosition | null = null;
    do {
      const page: StoredSessionPage = await store.read(listSessions, {
        limit: 4,
        order: "created",
        ...(after === null ? {} : { after }),
      });
      listed.push(...page.sessions.map(({ id }) => id));
      after = page.next;
      for (let moved = 0; moved < 3; moved += 1) {
        const reference = ids[Math.floor(random() * ids.length)] ?? "";
        await store.write(appendUserMessage, { reference, content: "news" });
      }
    } while (after !== null);
    expect(listed).toHaveLength(30);
    expect(new Set(listed)).toEqual(new Set(ids));
  });
});

let inserted = 0;

/** A session that was created at this moment, as one of a long-gone process would be. */
async function insertAt(store: Store, created_at: string, ended = false): Promise<string> {
  inserted += 1;
  // the order of ids is not the order of their making
  const id = `${String((inserted * 7919) % 100_000_000).padStart(8, "0")}-0000-4000-8000-000000000000`;
  await execute(
    store,
    `INSERT INTO sessions (id, created_at, state) VALUES ('${id}', '${created_at}', '${ended ? "ended" : "active"}')`,
  );
  return id;
}

async function idsOf(store: Store, input: ListInput): Promise<string[]> {
  return (await store.read(listSessions, input)).sessions.map(({ id }) => id);
}

async function allPages(store: Store, input: ListInput): Promise<(readonly Session[])[]> {
  const pages: (readonly Session[])[] = [];
  let after: ListPosition | null = null;
  do {
    const page: { sessions: readonly Session[]; next: ListPosition | null } = await store.read(
      listSessions,
      after === null ? input : { ...input, after },
    );
    pages.push(page.sessions);
    after = page.next;
    // a page that leads back to itself is a failure and no endless loop
    expect(pages.length).toBeLessThanOrEqual(30);
  } while (after !== null);
  return pages;
}

function byCreation(a: Session, b: Session): number {
  return a.created_at.localeCompare(b.created_at) || (a.id < b.id ? -1 : 1);
}

function byActivity(a: Session, b: Session): number {
  return b.created_at.localeCompare(a.created_at) || (b.id < a.id ? -1 : 1);
}
