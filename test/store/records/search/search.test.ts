import fc from "fast-check";
import { sql } from "kysely";
import { expect, it, onTestFinished, vi } from "vitest";

import { comparedText, searchWords } from "../../../../src/core/search/search.ts";
import { newId } from "../../../../src/core/ids.ts";
import { appendUserMessage } from "../../../../src/store/records/messages/append.ts";
import { mirrorMessages } from "../../../../src/store/records/messages/mirror.ts";
import { startThread } from "../../../../src/store/records/sessions/change.ts";
import { deleteSessionTree } from "../../../../src/store/records/sessions/delete-tree.ts";
import { patchSession } from "../../../../src/store/records/sessions/patch.ts";
import { batches } from "../../../../src/store/records/threads/bodies.ts";
import { forgetIndexed } from "../../../../src/store/records/search/forget.ts";
import { indexTail, type SearchInput, searchMessages } from "../../../../src/store/search.ts";
import type { Store } from "../../../../src/store/store.ts";
import { tokenHolder } from "../../../../src/core/principal.ts";
import { describeEngine, execute, newSession, openFresh } from "../../../helpers/engines.ts";
import { rowsReadBy } from "../../../helpers/read-rows.ts";
import { seededRandom } from "../../../helpers/random.ts";
import { repeatsNpmTest, testLevel, testSize } from "../../../helpers/size.ts";

/** Characters of three bytes. */
const LARGE = { test: 400_000, short: 1_000_000, long: 3_500_000 }[testLevel()];

const say = (store: Store, id: string, content: string) =>
  store.write(appendUserMessage, { reference: id, content });

/** The results once all is indexed: a search of a slow machine indexes a part. */
const foundIn = async (store: Store, query: string, more: Partial<SearchInput> = {}) => {
  const search = () => searchMessages(store, { query, limit: 50, ...more });
  let page = await search();
  while (page.indexed_until !== null) {
    page = await search();
  }
  return page.results.map(({ session_id, seq }) => `${session_id} ${seq ?? "labels"}`);
};

/** Adds documents that are newer than all messages, and have none. */
async function addDocuments(store: Store, session_id: string, count: number): Promise<void> {
  await store.write(async ({ db, dialect }) => {
    const { last } = await db
      .selectFrom("search_documents")
      .select(({ fn }) => fn.max("id").as("last"))
      .where("seq", ">", 0)
      .executeTakeFirstOrThrow();
    const added = Array.from({ length: count }, (_, at) => {
      const id = last + at + 1;
      return { id, session_id, seq: id, text: "" };
    });
    for (const batch of batches(added)) {
      await dialect.search.store(db, batch);
    }
  }, null);
}

async function allPages(store: Store, input: SearchInput) {
  const keys: string[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await searchMessages(store, { ...input, cursor });
    keys.push(...page.results.map(({ session_id, seq }) => `${session_id} ${seq ?? "labels"}`));
    if (page.next === null) {
      return { keys, complete: page.complete };
    }
    cursor = page.next;
  }
}

describeEngine("the search", (engine) => {
  it("[SEARCH-1] finds messages that have all words, in any case, and phrases between quotes", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await say(store, id, "first: nothing of interest");
    await say(store, id, "Der Zähler läuft über, sagt der ZÄHLER");
    await say(store, id, "the counter overflows");
    expect(await foundIn(store, "zähler")).toEqual([`${id} 2`]);
    expect(await foundIn(store, "ÜBER läuft")).toEqual([`${id} 2`]);
    expect(await foundIn(store, '"counter over"')).toEqual([`${id} 3`]);
    expect(await foundIn(store, '"over counter"')).toEqual([]);
    expect(await foundIn(store, "over counter")).toEqual([`${id} 3`]);
    expect(await foundIn(store, "counter nothing")).toEqual([]);
  });

  it("[SEARCH-2] takes any text as a query: nothing is an operator", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const texts = ['a AND b OR (NOT "c*") NEAR/2 text:x', "100%_\\ ^x {y} -z +w", "don't ;drop--"];
    for (const text of ["first", ...texts]) {
      await say(store, id, text);
    }
    for (const [at, query] of ["NEAR/2", "100%_\\", ";drop--"].entries()) {
      expect(await foundIn(store, query)).toEqual([`${id} ${at + 2}`]);
    }
    for (const query of ['"', '""', " ", "\t"]) {
      await expect(searchMessages(store, { query })).rejects.toMatchObject({
        code: "invalid_request",
      });
    }
    for (const query of ["NOT *", "AND OR", "^^^", '"(', "{}:", "text:", "a'b''c", "\\"]) {
      await searchMessages(store, { query });
    }
  });

  it("[SEARCH-3] finds names and titles first, then what people wrote, then tools, each newest first", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await say(store, id, "a rocket engine");
    const base = { token_count: 1, is_summary: false, usage: null, tool_calls: null };
    await store.write(mirrorMessages, {
      session_id: id,
      messages: [
        {
          ...base,
          message_id: newId(),
          role: "assistant",
          content: "I read it",
          tool_calls: [
            {
              id: "c",
              name: "read_file",
              args: { path: "src/Rocket.ts" },
              effect: null,
              subject: null,
            },
          ],
        },
        { ...base, message_id: newId(), role: "tool", content: "class Rocket {}" },
      ],
    });
    await say(store, id, "now paint the rocket");
    expect(await foundIn(store, "rocket")).toEqual([
      `${id} labels`,
      `${id} 4`,
      `${id} 2`,
      `${id} 1`,
      `${id} 3`,
    ]);
    expect(await foundIn(store, "rocket", { role: "tool" })).toEqual([`${id} 3`]);
    expect(await foundIn(store, "read_file")).toEqual([`${id} 2`]);
    const pages: string[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await searchMessages(store, { query: "rocket", limit: 2, cursor });
      pages.push(...page.results.map(({ seq }) => String(seq ?? "labels")));
      if (page.next === null) {
        break;
      }
      cursor = page.next;
    }
    expect(pages).toEqual(["labels", "4", "2", "1", "3"]);
  });

  it("[SEARCH-4] returns an excerpt of 160 characters with the places of the words", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await say(store, id, `${"🚀 x\n".repeat(100)}the Needle, a needle${" tail".repeat(100)}`);
    const [result] = (await searchMessages(store, { query: "needle", role: "user" })).results;
    const { excerpt = "", marks = [] } = result ?? {};
    expect(Array.from(excerpt)).toHaveLength(160);
    expect(excerpt.isWellFormed()).toBe(true);
    expect(excerpt).not.toContain("\n");
    expect(marks.map(([from, to]) => excerpt.slice(from, to))).toEqual(["Needle", "needle"]);
  });

  it("[SEARCH-5] finds what changed: names, rewritten messages; and archived ones only if asked", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const principal = tokenHolder("owner");
    await say(store, id, "old words");
    expect(await foundIn(store, "renamed")).toEqual([]);
    const patch = (change: object) =>
      store.write(patchSession, { reference: id, change, project_key: null, principal });
    await patch({ name: "Renamed" });
    expect(await foundIn(store, "renamed")).toEqual([`${id} labels`]);
    const { message } = await say(store, id, "a pending message");
    expect(await foundIn(store, "pending")).toEqual([`${id} 2`]);
    await store.write(mirrorMessages, {
      session_id: id,
      messages: [
        {
          message_id: message.message_id,
          role: "user",
          content: "an edited message",
          tool_calls: null,
          token_count: 1,
          is_summary: false,
          usage: null,
        },
      ],
    });
    expect(await foundIn(store, "pending")).toEqual([]);
    expect(await foundIn(store, "edited")).toEqual([`${id} 2`]);
    await store.write(startThread, { id, archive: true });
    expect(await foundIn(store, "edited")).toEqual([]);
    expect(await foundIn(store, "edited", { archived: true })).toEqual([`${id} 2`]);
    await patch({ archived: true });
    expect(await foundIn(store, "renamed")).toEqual([]);
    expect(await foundIn(store, "renamed", { archived: true })).toEqual([`${id} labels`]);
  });

  it("[SEARCH-6] has nothing of a deleted session, in the index neither", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const { id: other } = await newSession(store);
    for (let n = 0; n < 300; n += 1) {
      await say(store, n % 3 === 0 ? other : id, n % 3 === 0 ? `kept ${n}` : `xqzj secret ${n}`);
    }
    expect(await foundIn(store, "xqzj")).not.toEqual([]);
    expect(await indexHas(store, "xqz", id)).toBe(true);
    await store.write(deleteSessionTree, { id });
    expect(await foundIn(store, "xqzj")).toEqual([]);
    expect(await foundIn(store, "kept 297")).toEqual([`${other} 100`]);
    expect(await indexHas(store, "xqz", id)).toBe(false);
  });

  it("[SEARCH-12] indexes a session again after it was taken out of the index", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await say(store, id, "what was lost");
    expect(await foundIn(store, "lost", { role: "user" })).toEqual([`${id} 1`]);
    await execute(store, "DELETE FROM search_documents");
    expect(await foundIn(store, "lost")).toEqual([]);
    await store.write(forgetIndexed, { session_id: id });
    expect(await foundIn(store, "lost", { role: "user" })).toEqual([`${id} 1`]);
  });

  it("[SEARCH-7] reads the newest messages for words of one or two characters, and says so", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await say(store, id, "erste");
    await say(store, id, "東京に行く");
    const page = await searchMessages(store, { query: "東京" });
    expect(page.results.map(({ seq }) => seq)).toEqual([2]);
    expect(page.complete).toBe(true);
    expect(await foundIn(store, "東京に")).toEqual([`${id} 2`]);
    expect(await foundIn(store, "東 行く")).toEqual([`${id} 2`]);
  });

  it.skipIf(repeatsNpmTest())(
    "[SEARCH-7] reads the newest 50,000 for a short word, and what is before beside a longer one",
    async () => {
      const store = await openFresh(engine);
      const { id } = await newSession(store);
      await say(store, id, "東京に");
      expect(await foundIn(store, "東京に", { role: "user" })).toEqual([`${id} 1`]);
      for (const [newer, isComplete] of [
        [49_998, true],
        [2, false],
      ] as const) {
        await addDocuments(store, id, newer);
        const { keys, complete } = await allPages(store, { query: "東京", role: "user" });
        expect(complete).toBe(isComplete);
        expect(keys).toEqual(isComplete ? [`${id} 1`] : []);
      }
      expect(await foundIn(store, "東京 東京に", { role: "user" })).toEqual([`${id} 1`]);
    },
  );

  it("[SEARCH-8] indexes the tail within limits, and says how far it is", async () => {
    const store = await openFresh(engine);
    for (let n = 0; n < 5; n += 1) {
      const { id } = await newSession(store);
      await say(store, id, `about topic ${n}`);
    }
    expect(await indexTail(store, { messages: 2, ms: 60_000 })).toMatch(/^\d{4}-/);
    expect(await indexTail(store)).toBeNull();
    const page = await searchMessages(store, { query: "topic", role: "user" });
    expect(page).toMatchObject({ complete: true, indexed_until: null });
    expect(page.results).toHaveLength(5);
  });

  it.skipIf(repeatsNpmTest())(
    "[SEARCH-8] indexes 2,000 messages before an answer, or as many as one second takes",
    async () => {
      const store = await openFresh(engine);
      const { id } = await newSession(store);
      const base = { role: "user", token_count: 1, is_summary: false, usage: null } as const;
      const messages = Array.from({ length: 2500 }, (_, n) => {
        return { ...base, message_id: newId(), content: `topic ${n}`, tool_calls: null };
      });
      await store.write(mirrorMessages, { session_id: id, messages });
      const clock = vi.spyOn(performance, "now").mockReturnValue(0);
      onTestFinished(() => clock.mockRestore());
      const input = { query: "topic", role: "user", limit: 50 } as const;
      const indexed = async (): Promise<number | undefined> =>
        (await store.read(({ db }) => db.selectFrom("search_marks").selectAll().execute(), null))[0]
          ?.indexed_seq;
      const page = await searchMessages(store, input);
      expect(page.complete).toBe(false);
      expect(page.indexed_until).toMatch(/^\d{4}-/);
      expect(await indexed()).toBe(2000);
      let now = 0;
      clock.mockImplementation(() => (now += 501));
      expect(await searchMessages(store, input)).toMatchObject({ complete: false });
      expect(await indexed()).toBe(2400);
      clock.mockRestore();
      expect(await allPages(store, input)).toMatchObject({ complete: true });
      expect(await indexed()).toBe(2500);
    },
  );

  it.skipIf(repeatsNpmTest())(
    "[SEARCH-22] reads results of tools alone if they are searched, and nothing of them if others are",
    async () => {
      const store = await openFresh(engine);
      const { id } = await newSession(store);
      const base = { token_count: 1, is_summary: false, usage: null, tool_calls: null };
      const messages = Array.from({ length: 400 }, (_, n) => {
        const role = n % 2 === 0 ? ("assistant" as const) : ("tool" as const);
        return {
          ...base,
          message_id: `${n}`,
          role,
          content: n < 2 ? "tested" : "ted, est, ste, tes",
        };
      });
      await store.write(mirrorMessages, { session_id: id, messages });
      for (const [role, seq] of [
        ["assistant", 1],
        ["tool", 2],
      ] as const) {
        const found = () => foundIn(store, "tested", { role });
        expect(await found()).toEqual([`${id} ${seq}`]);
        expect(await rowsReadBy(found)).toBeLessThan(300);
      }
      const [first] = messages;
      await store.write(mirrorMessages, {
        session_id: id,
        messages: [{ ...first!, role: "tool" }],
      });
      expect((await foundIn(store, "tested", { role: "tool" })).toSorted()).toEqual([
        `${id} 1`,
        `${id} 2`,
      ]);
    },
  );

  it("[SEARCH-9] keeps the order of messages that were stored together", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await say(store, id, "first");
    await store.write(mirrorMessages, {
      session_id: id,
      messages: Array.from({ length: 700 }, (_, n) => ({
        message_id: newId(),
        role: "user" as const,
        content: `burst ${n}`,
        tool_calls: null,
        token_count: 1,
        is_summary: false,
        usage: null,
      })),
    });
    const found = await foundIn(store, "burst");
    expect(found).toEqual(Array.from({ length: 50 }, (_, n) => `${id} ${701 - n}`));
  });

  it.skipIf(repeatsNpmTest())(
    "[SEARCH-3] [SEARCH-9] orders thousands of messages that many sessions stored at the same time",
    async () => {
      const store = await openFresh(engine);
      const moment = Date.UTC(2026, 0, 31, 12);
      const stored: string[] = [];
      for (let n = 0; n <= 60; n += 1) {
        const { id } = await newSession(store);
        // the last session is of a second later: among the numbers that the others have taken
        const ts = new Date(n < 60 ? moment : moment + 1000).toISOString();
        const rows = Array.from({ length: 60 }, (_, at) => ({
          session_id: id,
          seq: at + 1,
          content: `close ${n}`,
          checkpointed: 1,
          ts,
        }));
        await store.write(async ({ db }) => {
          await db.insertInto("messages").values(rows).execute();
          await db.updateTable("sessions").set({ last_seq: 60 }).where("id", "=", id).execute();
        }, null);
        stored.unshift(...rows.map(({ seq }) => `${id} ${seq}`).toReversed());
      }
      while ((await indexTail(store)) !== null) {
        // until all is indexed
      }
      const found: string[] = [];
      for (let cursor: string | undefined; ;) {
        const page = await searchMessages(store, { query: "close", limit: 50, cursor });
        found.push(...page.results.map(({ session_id, seq }) => `${session_id} ${seq}`));
        if (page.next === null) {
          break;
        }
        cursor = page.next;
      }
      expect(found).toEqual(stored);
    },
  );

  it("[SEARCH-10] [SEARCH-4] finds what is beside NUL, halves of characters and non-characters, and in megabytes", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const base = { token_count: 1, is_summary: false, usage: null, tool_calls: null };
    const args = { text: "before\0after \ud83d half \udc00", "\ud800key": "\uffff\ufffe end" };
    const random = seededRandom("search-large");
    const large = Array.from({ length: LARGE }, () =>
      String.fromCharCode(0x4e00 + Math.floor(random() * 0x5000)),
    ).join("");
    await store.write(mirrorMessages, {
      session_id: id,
      messages: [
        {
          ...base,
          message_id: newId(),
          role: "assistant",
          content: "hostile",
          tool_calls: [{ id: "c", name: "x", args, effect: null, subject: null }],
        },
        { ...base, message_id: newId(), role: "tool", content: `${large} 🚀 the last word` },
      ],
    });
    while ((await indexTail(store)) !== null) {
      // until all is indexed
    }
    for (const query of ["after", "half", "key", "\ufffe end", "before\0after", "\ud83d half"]) {
      const { results } = await searchMessages(store, { query });
      expect(
        results.map(({ seq }) => seq),
        JSON.stringify(query),
      ).toEqual([1]);
      expect(results[0]?.excerpt.isWellFormed()).toBe(true);
    }
    // the half that is alone, not that of the rocket
    expect(await foundIn(store, "\ud83d")).toEqual([`${id} 1`]);
    expect(await foundIn(store, large.slice(LARGE / 2, LARGE / 2 + 30))).toEqual([`${id} 2`]);
    expect(await foundIn(store, '"the last word"')).toEqual([`${id} 2`]);
  });

  it("[SEARCH-10] finds everything that a scan finds, from three characters on", async () => {
    const store = await openFresh(engine);
    const texts = fc.sample(text(), {
      numRuns: testSize("search"),
      seed: 33,
    });
    const { id } = await newSession(store);
    await store.write(mirrorMessages, {
      session_id: id,
      messages: texts.map((content) => ({
        message_id: newId(),
        role: "user" as const,
        content,
        tool_calls: null,
        token_count: 1,
        is_summary: false,
        usage: null,
      })),
    });
    while ((await indexTail(store)) !== null) {
      // until all is indexed
    }
    const compared = texts.map(comparedText);
    const queries = fc.sample(
      fc.tuple(fc.nat(texts.length - 1), fc.nat(), fc.integer({ min: 3, max: 12 }), fc.boolean()),
      { numRuns: Math.ceil(testSize("search") / 5), seed: 34 },
    );
    for (const [at, from, length, upper] of queries) {
      const points = Array.from(texts[at] ?? "");
      const part = points
        .slice(from % points.length)
        .slice(0, length)
        .join("");
      const query = `"${upper ? part.toUpperCase() : part}"`;
      const words = searchWords(query);
      if (part.includes('"') || words.length === 0) {
        continue;
      }
      const expected = compared.flatMap((each, n) =>
        words.every((word) => each.includes(word)) ? [n + 1] : [],
      );
      const found: number[] = [];
      for (let cursor: string | undefined; ;) {
        const page = await searchMessages(store, { query, limit: 50, cursor, role: "user" });
        found.push(...page.results.map(({ seq }) => seq ?? 0));
        if (page.next === null) {
          break;
        }
        cursor = page.next;
      }
      expect(
        found.toSorted((a, b) => a - b),
        JSON.stringify(query),
      ).toEqual(expected);
    }
  });
});

/** Prose, code, CJK, emoji with joiners, right to left, combining marks. */
function text(): fc.Arbitrary<string> {
  const words = fc.constantFrom(
    ..."the cat Sat ON mat const x=>y; foo_bar(baz) İstanbul straße ΣΊΣΥΦΟΣ Привет 東京都 日本語 漢字 한국어 שלום مرحبا 👩‍👩‍👧 🇩🇪 é e\u0301 ﬁ Ǆ ᾈ %_ \\n ' `".split(
      " ",
    ),
  );
  const any = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });
  return fc
    .array(fc.oneof({ weight: 5, arbitrary: words }, any), { minLength: 1, maxLength: 30 })
    .map((parts) => parts.join(" ").replaceAll("\0", ""))
    .filter((each) => each !== "" && each.isWellFormed());
}

/** Whether the engine's index has a trigram: on SQLite as it is in the file, on PostgreSQL of a session whose rows are there. */
async function indexHas(store: Store, gram: string, session_id: string): Promise<boolean> {
  return store.read(async ({ db, dialect }) => {
    if (!dialect.writersQueue) {
      const { n } = await db
        .selectFrom("search_documents")
        .select(({ fn }) => fn.countAll<number>().as("n"))
        .where("session_id", "=", session_id)
        .executeTakeFirstOrThrow();
      return n > 0;
    }
    const { rows } = await sql<{ block: Uint8Array }>`select block from search_index_data`.execute(
      db,
    );
    // a page has the first bytes of a term only if they differ from those of the term before
    const bytes = Buffer.from(gram.slice(1));
    return rows.some(({ block }) => Buffer.from(block).includes(bytes));
  }, null);
}
