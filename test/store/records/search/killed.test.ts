import { setTimeout as sleep } from "node:timers/promises";

import { expect, it } from "vitest";

import {
  comparedText,
  hasWords,
  searchedLabels,
  searchWords,
} from "../../../../src/core/search/search.ts";
import { tokenHolder } from "../../../../src/core/principal.ts";
import { appendUserMessage } from "../../../../src/store/records/messages/append.ts";
import { mirrorMessages } from "../../../../src/store/records/messages/mirror.ts";
import { patchSession } from "../../../../src/store/records/sessions/patch.ts";
import { indexTail, searchMessages } from "../../../../src/store/search.ts";
import type { Store } from "../../../../src/store/store.ts";
import { describeEngine, newSession } from "../../../helpers/engines.ts";
import { seededRandom } from "../../../helpers/random.ts";
import { testLevel, testSize } from "../../../helpers/size.ts";
import { startProgram } from "../../../helpers/start-program.ts";

const principal = tokenHolder("owner");

/** Writes of such an indexing, with its commits. */
const WRITES = 20;

describeEngine("processes that are killed while they index", (engine) => {
  it("[SEARCH-11] leave an index in which a search finds what a scan finds", async () => {
    const database = await engine.create();
    const random = seededRandom("search-killed");
    for (let kill = 0; kill < testSize("search-killed"); kill += 1) {
      const programs = [1, 2].map(() => startProgram("search-index.ts", [database.location]));
      await Promise.all(programs.map((running) => running.waitFor(/ready/)));
      await sleep(400 * random());
      for (const { child } of programs) {
        child.kill("SIGKILL");
      }
      await Promise.all(programs.map(({ finished }) => finished));
    }
    const store = await database.open();
    await indexAll(store);
    for (const query of ["message", "round 1", "name", '"message 3 of"', "nowhere"]) {
      expect(await found(store, query), query).toEqual(await scanned(store, query));
    }
  });

  it("[SEARCH-11] leave such an index whichever write of a step they die before", async () => {
    const random = seededRandom(`search-writes on ${engine.name}`);
    const database = await engine.create();
    const store = await database.open();
    const { id } = await newSession(store);
    let indexed = await say(store, id, "message before");
    const size = testSize("search-writes");
    for (let kill = 1; kill <= size; kill += 1) {
      // a session without a mark, new messages, a name and a message that replace those of the index
      await say(store, (await newSession(store)).id, `message ${kill}`);
      const next = await say(store, id, `message ${kill}`);
      const change = { name: `name ${kill}` };
      await store.write(patchSession, { reference: id, change, project_key: null, principal });
      await edit(store, { id, message_id: indexed, content: `message edited ${kill}` });
      indexed = next;
      const write = testLevel() === "test" ? 1 + Math.floor(random() * WRITES) : kill;
      const args = [database.location, String(write)];
      const { signal, stdout, stderr } = await startProgram("store-index.ts", args).finished;
      await indexAll(store);
      for (const query of ["message", `edited ${kill}`, `name ${kill}`, "before"]) {
        expect(await found(store, query), `${write}: ${query}`).toEqual(
          await scanned(store, query),
        );
      }
      if (signal !== "SIGKILL") {
        expect(stdout, stderr).toBe("done\n");
        return;
      }
    }
    expect(testLevel()).toBe("test");
  });
});

async function say(store: Store, reference: string, content: string): Promise<string> {
  return (await store.write(appendUserMessage, { reference, content })).message.message_id;
}

async function edit(
  store: Store,
  { id, message_id, content }: Readonly<Record<"id" | "message_id" | "content", string>>,
): Promise<void> {
  const base = { role: "user", tool_calls: null, token_count: 1, usage: null } as const;
  const messages = [{ ...base, message_id, content, is_summary: false }];
  await store.write(mirrorMessages, { session_id: id, messages });
}

async function indexAll(store: Store): Promise<void> {
  while ((await indexTail(store)) !== null) {
    // until all is indexed
  }
}

async function found(store: Store, query: string): Promise<string[]> {
  const all: string[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await searchMessages(store, { query, limit: 50, cursor });
    all.push(...page.results.map(({ session_id, seq }) => `${session_id} ${seq ?? 0}`));
    if (page.next === null) {
      return all.toSorted();
    }
    cursor = page.next;
  }
}

function scanned(store: Store, query: string): Promise<string[]> {
  const words = searchWords(query);
  return store.read(async ({ db }) => {
    const messages = await db
      .selectFrom("messages")
      .select(["session_id", "seq", "content"])
      .execute();
    const sessions = await db.selectFrom("sessions").select(["id", "name", "title"]).execute();
    return [
      ...messages.map(({ session_id, seq, content }) => ({
        key: `${session_id} ${seq}`,
        text: content,
      })),
      ...sessions.map(({ id, name, title }) => ({
        key: `${id} 0`,
        text: searchedLabels(name, title),
      })),
    ]
      .filter(({ text }) => hasWords(comparedText(text), words))
      .map(({ key }) => key)
      .toSorted();
  }, null);
}
