import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { Client } from "pg";
import { describe, expect, it } from "vitest";

import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import { readThreadNames } from "../../../src/store/checkpoints/threads/thread-names.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import type { Store } from "../../../src/store/store.ts";
import { copyInto, fixture, OfficialFile, statesOf } from "../../helpers/checkpoints/official.ts";
import { openSaver } from "../../helpers/checkpoints/saver.ts";
import { createPostgres } from "../../helpers/postgres.ts";

async function idsIn(store: Store, threadId: string): Promise<string[]> {
  const names = await store.read(readThreadNames, threadId);
  return names.map(({ checkpoint_id }) => checkpoint_id);
}

const codesOf = ({ refused }: Awaited<ReturnType<typeof copyInto>>) =>
  Object.fromEntries(refused.map(({ thread_id, code }) => [thread_id, code]));

describe("what is in the target already", () => {
  it("[COPY-22] completes a thread that was copied in part", async () => {
    using source = new OfficialFile();
    await using target = await openSaver();
    const ids = source.addChain("thread", 150);
    source.db
      .exec(`CREATE TABLE later AS SELECT * FROM checkpoints WHERE checkpoint_id > '${ids[99]}';
      DELETE FROM checkpoints WHERE checkpoint_id > '${ids[99]}'`);
    await copyInto(target.store, source.path);
    expect(await idsIn(target.store, "thread")).toEqual(ids.slice(0, 100));
    source.db.exec("INSERT INTO checkpoints SELECT * FROM later");
    const report = await copyInto(target.store, source.path);
    expect(report).toMatchObject({ copied: { threads: 1, checkpoints: 150 }, refused: [] });
    expect(await idsIn(target.store, "thread")).toEqual(ids);
  });

  it("[COPY-22] adds what tasks have written since", async () => {
    using source = new OfficialFile();
    await using target = await openSaver();
    const [checkpoint_id = ""] = source.addChain("thread", 1);
    source.addWrite({ thread_id: "thread", checkpoint_id, channel: "a", value: "1" });
    await copyInto(target.store, source.path);
    source.addWrite({ thread_id: "thread", checkpoint_id, idx: 1, channel: "b", value: "2" });
    const report = await copyInto(target.store, source.path);
    expect(report).toMatchObject({ copied: { threads: 1 }, refused: [] });
    const tuple = await target.saver.getTuple({ configurable: { thread_id: "thread" } });
    expect(tuple?.pendingWrites).toEqual([
      ["task", "a", 1],
      ["task", "b", 2],
    ]);
  });

  it("[COPY-23] leaves a thread with other states as it is", async () => {
    using source = new OfficialFile();
    await using target = await openSaver();
    const [id = ""] = source.addChain("changed", 1);
    source.addChain("continued", 3);
    source.addChain("edited", 2);
    source.addChain("same", 3);
    await copyInto(target.store, source.path);
    const { store, saver } = target;
    const config = { configurable: { thread_id: "changed", checkpoint_ns: "", checkpoint_id: id } };
    await saver.putWrites(config, [["channel", "value"]], "task");
    const own = { ...emptyCheckpoint(), id: "ffffffff-0000-6000-8000-000000000000" };
    const there = { configurable: { thread_id: "continued", checkpoint_ns: "" } };
    await saver.put(there, own, { source: "update", step: 9, parents: {} }, {});
    source.db
      .exec(`UPDATE checkpoints SET checkpoint = replace(checkpoint, 'message 0', 'another 0')
      WHERE thread_id = 'edited'`);
    const threads = ["changed", "continued", "edited"];
    const before = await Promise.all(threads.map((thread) => statesOf(saver, thread)));
    const report = await copyInto(store, source.path);
    expect(codesOf(report)).toEqual(
      Object.fromEntries(threads.map((thread) => [thread, "thread_exists"])),
    );
    expect(report.refused[0]?.detail).toContain("reprise threads delete <id> --database <target>");
    expect(report.present).toEqual({ threads: 1, checkpoints: 3 });
    const after = await Promise.all(threads.map((thread) => statesOf(saver, thread)));
    expect(after).toEqual(before);
  });

  it("[COPY-24] refuses a thread whose name belongs to a session of the target", async () => {
    using source = new OfficialFile();
    await using target = await openSaver();
    const session = await target.store.write(createSession, {});
    const [taken, free] = [`${session.id}:0`, "0190a3b2-0000-7000-8000-000000000009:0"];
    source.addChain(taken, 1);
    source.addChain(free, 1);
    const report = await copyInto(target.store, source.path, { intoExisting: true });
    expect(codesOf(report)).toEqual({ [taken]: "thread_of_session" });
    expect(await idsIn(target.store, taken)).toEqual([]);
    expect(await idsIn(target.store, free)).toHaveLength(1);
  });

  it("[COPY-27] refuses a target with others, unless the caller allows them", async () => {
    using source = new OfficialFile();
    source.addChain("thread", 1);
    await using withSession = await openSaver();
    await withSession.store.write(createSession, {});
    await using withThread = await openSaver();
    using another = new OfficialFile();
    another.addChain("another", 2);
    await copyInto(withThread.store, another.path);
    for (const { store } of [withSession, withThread]) {
      await expect(copyInto(store, source.path)).rejects.toMatchObject({ code: "invalid_usage" });
      expect(await idsIn(store, "thread")).toEqual([]);
      const report = await copyInto(store, source.path, { intoExisting: true });
      expect(report).toMatchObject({ copied: { threads: 1 }, refused: [] });
    }
    expect(await idsIn(withThread.store, "another")).toHaveLength(2);
  });
});

describe("others who write meanwhile", () => {
  it("[COPY-25] copies each thread in one state, and names those that were changed since", async () => {
    using source = new OfficialFile();
    await using target = await openSaver();
    const ids = source.addChain("long", 100);
    source.addChain("zebra", 1);
    const last = "ffffffff-0000-6000-8000-000000000000";
    let written = false;
    const store: Store = {
      ...target.store,
      write: async (operation, input) => {
        if (!written) {
          written = true;
          source.add({ thread_id: "long", checkpoint_id: last, parent_checkpoint_id: null });
          source.addChain("begun", 1);
        }
        return target.store.write(operation, input);
      },
    };
    const report = await copyInto(store, source.path);
    expect(report).toMatchObject({ refused: [], changed: ["begun", "long"] });
    expect(await idsIn(target.store, "long")).toEqual(ids);
    const again = await copyInto(target.store, source.path);
    expect(again).toMatchObject({ refused: [], changed: [], copied: { threads: 2 } });
    expect(await idsIn(target.store, "long")).toEqual([...ids, last]);
  });

  it("[COPY-25] only reads the source", async () => {
    const hashOf = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");
    using source = new OfficialFile();
    source.addChain("thread", 3);
    source.db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    const before = hashOf(source.path);
    await using target = await openSaver();
    await copyInto(target.store, source.path);
    expect(hashOf(source.path)).toBe(before);
    expect(readFileSync(`${source.path}-wal`)).toHaveLength(0);
  });

  it("[COPY-23] names a thread that another program wrote to in the target", async () => {
    using source = new OfficialFile();
    await using target = await openSaver();
    source.addChain("thread", 100);
    let batches = 0;
    const foreign = { ...emptyCheckpoint(), id: "00000000-0000-6000-8000-000000000000" };
    const config = { configurable: { thread_id: "thread", checkpoint_ns: "" } };
    const store: Store = {
      ...target.store,
      write: async (operation, input) => {
        batches += 1;
        if (batches === 2) {
          const other = createCheckpointSaver({ store: target.store });
          await other.put(config, foreign, { source: "update", step: 1, parents: {} }, {});
        }
        return target.store.write(operation, input);
      },
    };
    expect(codesOf(await copyInto(store, source.path))).toEqual({ thread: "thread_exists" });
    expect(await idsIn(target.store, "thread")).toContain(foreign.id);
  });
});

describe("what cannot be copied", () => {
  it("[COPY-26] names each thread that cannot be read, and copies the others", async () => {
    using source = new OfficialFile();
    await using target = await openSaver();
    const add = (thread_id: string, row: Partial<Parameters<OfficialFile["add"]>[0]>) =>
      source.add({ thread_id, checkpoint_id: "1ef00000-0000-6000-8000-000000000000", ...row });
    add("a text", { checkpoint: "no JSON" });
    add("a list", { checkpoint: "[]" });
    add("another id", { checkpoint: { id: "other" } });
    add("no metadata", { metadata: "null" });
    add("python", { type: "msgpack", checkpoint: "\u0084" });
    add("other serializer", { type: "encrypted" });
    add("deep", {
      checkpoint: { channel_values: JSON.parse(`{"a":${"[".repeat(900)}${"]".repeat(900)}}`) },
    });
    add("deeper", {
      checkpoint: `{"v":4,"channel_values":${"[".repeat(90_000)}${"]".repeat(90_000)}}`,
    });
    add("unknown class", {
      metadata: { a: { lc: 1, type: "constructor", id: ["elsewhere", "Thing"], kwargs: {} } },
    });
    add("a\0b", {});
    add("", {});
    source.add({ thread_id: Uint8Array.of(1), checkpoint_id: "1" });
    add("ä".repeat(128), {});
    add("fine", {});
    add("missing parent", { parent_checkpoint_id: "1ef00000-0000-6000-8000-00000000000f" });
    add("without a type", { type: null });
    const report = await copyInto(target.store, source.path);
    expect(codesOf(report)).toEqual({
      "a text": "database_corrupt",
      "a list": "database_corrupt",
      "another id": "database_corrupt",
      "no metadata": "database_corrupt",
      python: "database_unsupported",
      "other serializer": "database_unsupported",
      deeper: "database_corrupt",
      "unknown class": "database_unsupported",
      "a\0b": "invalid_request",
      "": "invalid_request",
      ["ä".repeat(128)]: "invalid_request",
    });
    expect(report.copied.threads).toBe(4);
    expect(report.refused.filter(({ thread_id }) => thread_id === "")).toHaveLength(2);
    const config = { configurable: { thread_id: "missing parent" } };
    const tuple = await target.saver.getTuple(config);
    expect(tuple?.parentConfig?.configurable).toMatchObject({
      checkpoint_id: "1ef00000-0000-6000-8000-00000000000f",
    });
  });

  it("[COPY-31] reports versions that are none as damage of the source, not of the target", async () => {
    using source = new OfficialFile();
    await using target = await openSaver();
    const versions = { null: null, list: [1], flag: true };
    for (const [name, version] of Object.entries(versions)) {
      for (const [where, checkpoint] of [
        ["channel", { channel_versions: { a: version } }],
        ["node", { versions_seen: { node: { a: version } } }],
        ["nodes", { versions_seen: { node: version } }],
      ] as const) {
        const text = JSON.stringify(checkpoint).slice(1, -1);
        source.add({
          thread_id: `${where} ${name}`,
          checkpoint_id: "1",
          checkpoint: `{"v":4,"id":"1","ts":"t",${text}}`,
        });
      }
    }
    source.addChain("fine", 1);
    const report = await copyInto(target.store, source.path);
    expect(report.copied.threads).toBe(1);
    expect(report.refused).toHaveLength(9);
    for (const { code, detail } of report.refused) {
      expect([code, detail]).toEqual([
        "database_corrupt",
        expect.stringMatching(/^The source has/),
      ]);
    }
  });

  it("[COPY-26] names each thread of PostgresSaver's tables that cannot be read", async () => {
    await using source = await createPostgres({ tables: false });
    const client = new Client({ connectionString: source.url });
    await client.connect();
    await client.query(`${fixture("postgres.sql").toString()};
      UPDATE checkpoint_blobs SET type = 'msgpack' WHERE thread_id = 'forks';
      UPDATE checkpoint_writes SET type = 'null' WHERE thread_id = 'sends';
      UPDATE checkpoint_blobs SET blob = NULL WHERE thread_id = 'long' AND type = 'json';
      UPDATE checkpoint_blobs SET blob = 'no JSON' WHERE thread_id = 'resumed' AND type = 'json';
      UPDATE checkpoints SET checkpoint = jsonb_set(checkpoint, '{channel_versions}', '[]')
        WHERE thread_id = 'values';
      UPDATE checkpoints SET metadata = '[]' WHERE thread_id = 'functional'`);
    await client.end();
    await using target = await openSaver();
    const report = await copyInto(target.store, source.url);
    expect(codesOf(report)).toEqual({
      forks: "database_unsupported",
      sends: "database_unsupported",
      long: "database_corrupt",
      resumed: "database_corrupt",
      values: "database_corrupt",
      functional: "database_corrupt",
    });
    expect(report.copied.threads).toBe(7);
  });

  it("[COPY-26] keeps members named __proto__ in values", async () => {
    using source = new OfficialFile();
    await using target = await openSaver();
    const text = '{"__proto__":{"polluted":true},"a":[{"__proto__":1}]}';
    const id = "1ef00000-0000-6000-8000-000000000000";
    source.add({
      thread_id: "thread",
      checkpoint_id: id,
      checkpoint: `{"v":4,"id":"${id}","ts":"t","channel_values":{"a":${text}},"channel_versions":{"a":1},"versions_seen":{}}`,
    });
    expect((await copyInto(target.store, source.path)).refused).toEqual([]);
    const tuple = await target.saver.getTuple({ configurable: { thread_id: "thread" } });
    expect(JSON.stringify(tuple?.checkpoint.channel_values["a"])).toBe(text);
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });

  it("[COPY-21] removes a thread of which a state comes back differently", async () => {
    using source = new OfficialFile();
    await using target = await openSaver();
    const ids = source.addChain("thread", 100);
    source.addChain("fine", 1);
    // JSON of JavaScript cannot hold the number that this becomes
    source.db
      .prepare(
        'UPDATE checkpoints SET checkpoint = replace(checkpoint, \'"channel_values":{\', \'"channel_values":{"infinite":1e999,\') WHERE checkpoint_id = ?',
      )
      .run(ids.at(-1) ?? "");
    expect(codesOf(await copyInto(target.store, source.path))).toEqual({ thread: "internal" });
    expect(await idsIn(target.store, "thread")).toEqual([]);
    expect(await idsIn(target.store, "fine")).toHaveLength(1);
  });

  it("[COPY-29] refuses a number as id if the text is a thread, too", async () => {
    using source = new OfficialFile();
    await using target = await openSaver();
    const [id] = source.addChain("42", 1);
    source.addChain("42.0", 1);
    source.addChain("43.0", 1);
    expect(codesOf(await copyInto(target.store, source.path))).toEqual({
      "42.0": "invalid_request",
    });
    expect(await idsIn(target.store, "42")).toEqual([id]);
    expect(await idsIn(target.store, "43")).toHaveLength(1);
    expect(await copyInto(target.store, source.path)).toMatchObject({ present: { threads: 2 } });
  });

  it("[COPY-20] reads the file of an early SqliteSaver", async () => {
    using source = new OfficialFile();
    await using target = await openSaver();
    source.addChain("thread", 2);
    source.db.exec(`CREATE TABLE early (thread_id TEXT NOT NULL, checkpoint_id TEXT NOT NULL,
        parent_id TEXT, checkpoint BLOB, metadata BLOB, PRIMARY KEY (thread_id, checkpoint_id));
      INSERT INTO early SELECT thread_id, checkpoint_id, parent_checkpoint_id,
        CAST(checkpoint AS BLOB), CAST(metadata AS BLOB) FROM checkpoints;
      DROP TABLE checkpoints; DROP TABLE writes; ALTER TABLE early RENAME TO checkpoints`);
    const report = await copyInto(target.store, source.path);
    expect(report).toMatchObject({ copied: { threads: 1, checkpoints: 2 }, refused: [] });
    const tuple = await target.saver.getTuple({ configurable: { thread_id: "thread" } });
    expect(tuple?.checkpoint.channel_values["messages"]).toHaveLength(2);
  });
});
