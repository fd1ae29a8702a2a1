import type { BaseMessage } from "@langchain/core/messages";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { expect, it } from "vitest";

import { newId } from "../../src/core/ids.ts";
import { threadId } from "../../src/core/threads.ts";
import { RepriseSaver } from "../../src/entries/langgraph.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { takeLease } from "../../src/store/records/leases/lease.ts";
import { createCheckpointSaver } from "../../src/langgraph/saver.ts";
import { readKept } from "../helpers/checkpoints/kept.ts";
import {
  describeEngine,
  type Engine,
  newSession,
  openFresh,
  owner,
  sharedStore,
} from "../helpers/engines.ts";
import { startProgram } from "../helpers/start-program.ts";

const metadata = { source: "input", step: -1, parents: {} } as const;

const configOf = (thread_id: unknown, more: object = {}) => ({
  configurable: { thread_id, checkpoint_ns: "", ...more },
});

async function freshSaver(engine: Engine) {
  const store = await openFresh(engine);
  return { store, saver: RepriseSaver.from(store) };
}

function putEmpty(saver: RepriseSaver, config: object) {
  return saver.put(config, emptyCheckpoint(), metadata, {});
}

/** Each call that takes the id of a thread by itself. */
function callsWith(saver: RepriseSaver, id: unknown): readonly (() => Promise<unknown>)[] {
  return [
    () => Reflect.apply(saver.deleteThread, saver, [id]),
    () => Reflect.apply(saver.prune, saver, [id]),
    () => Reflect.apply(saver.stats, saver, [id]),
    () => Reflect.apply(saver.copyThread, saver, [id, "other"]),
    () => Reflect.apply(saver.copyThread, saver, ["other", id]),
  ];
}

describeEngine("the ids of a checkpoint", (engine) => {
  const empty = sharedStore(engine);
  it('[SAVER-3] 42 and "42" are the same thread', async () => {
    const { saver } = await freshSaver(engine);
    const { configurable } = await putEmpty(saver, configOf(42));
    expect(configurable).toMatchObject({ thread_id: "42" });
    await putEmpty(saver, configOf("42"));
    await putEmpty(saver, configOf(-0));
    expect(await Array.fromAsync(saver.list(configOf(42)))).toHaveLength(2);
    expect(await Array.fromAsync(saver.list({}))).toHaveLength(3);
    expect(await saver.getTuple(configOf("0"))).toBeDefined();
    expect(await saver.stats(42)).toEqual(await saver.stats("42"));
    await saver.copyThread(42, 43);
    expect(await saver.stats("43")).toMatchObject({ checkpoints: 2 });
    expect(await saver.prune(43)).toMatchObject({ checkpoints: 0 });
    await saver.deleteThread(42);
    expect(await saver.getTuple(configOf("42"))).toBe(undefined);
    expect(await saver.getTuple(configOf(43))).toBeDefined();
  });

  it("[SAVER-3] a thread may have any other name", async () => {
    const { saver } = await freshSaver(engine);
    const names = [
      " ",
      "é".repeat(127),
      "a/b?c=d",
      "__proto__",
      "🙂",
      `${newId()}:0`,
      "'; --",
      "%",
      "0",
    ];
    for (const name of names) {
      await putEmpty(saver, configOf(name));
    }
    for (const name of names) {
      const tuples = await Array.fromAsync(saver.list(configOf(name)));
      expect(tuples.map(({ config }) => config.configurable?.["thread_id"])).toEqual([name]);
    }
  });

  it.each([
    ["NUL", "secret\0name"],
    ["half a surrogate pair", "secret\ud800"],
    ["256 bytes", `secret${"é".repeat(125)}`],
    ["a fraction", 1.5],
    ["NaN", Number.NaN],
    ["a number above 2^53", 1e21],
    ["a bigint", 42n],
    ["an object", { secret: 1 }],
    ["true", true],
  ])("[SAVER-4] a thread_id with %s is refused and not shown", async (_, thread_id) => {
    const saver = RepriseSaver.from(empty());
    const refused = {
      code: "invalid_request",
      message: expect.not.stringMatching(/secret|1e21|42/),
    };
    const config = configOf(thread_id);
    await expect(putEmpty(saver, config)).rejects.toMatchObject(refused);
    await expect(saver.getTuple(config)).rejects.toMatchObject(refused);
    await expect(saver.list(config).next()).rejects.toMatchObject(refused);
    await expect(
      saver.putWrites(configOf(thread_id, { checkpoint_id: "c" }), [], "task"),
    ).rejects.toMatchObject(refused);
    for (const call of callsWith(saver, thread_id)) {
      await expect(call()).rejects.toMatchObject(refused);
    }
  });

  it.each([[undefined], [null], [""]])(
    "[SAVER-4] the thread_id %j is missing",
    async (thread_id) => {
      const saver = RepriseSaver.from(empty());
      const refused = { code: "invalid_request", message: expect.stringContaining("thread_id") };
      await expect(putEmpty(saver, configOf(thread_id))).rejects.toMatchObject(refused);
      await expect(
        saver.putWrites(configOf(thread_id, { checkpoint_id: "c" }), [], "task"),
      ).rejects.toMatchObject(refused);
      for (const call of callsWith(saver, thread_id)) {
        await expect(call()).rejects.toMatchObject(refused);
      }
      expect(await saver.getTuple(configOf(thread_id))).toBe(undefined);
    },
  );

  it.each([["\0"], ["\udc00"], ["x".repeat(2000)], [7]])(
    "[SAVER-4] %j is refused as a namespace and as an id of a checkpoint or task",
    async (text) => {
      const saver = RepriseSaver.from(empty());
      const refused = { code: "invalid_request" };
      const good = { thread_id: "thread", checkpoint_id: "c" };
      for (const bad of [{ checkpoint_ns: text }, { checkpoint_id: text }]) {
        const config = configOf("thread", { ...good, ...bad });
        await expect(putEmpty(saver, config)).rejects.toMatchObject(refused);
        await expect(saver.getTuple(config)).rejects.toMatchObject(refused);
        await expect(saver.list(config).next()).rejects.toMatchObject(refused);
        await expect(saver.putWrites(config, [], "task")).rejects.toMatchObject(refused);
      }
      await expect(
        Reflect.apply(saver.putWrites, saver, [configOf("thread", good), [], text]),
      ).rejects.toMatchObject(refused);
      await expect(
        saver.put(configOf("thread"), { ...emptyCheckpoint(), id: text as string }, metadata, {}),
      ).rejects.toMatchObject(refused);
    },
  );

  it("[SAVER-4] channels may have any name", async () => {
    const { store, saver } = await freshSaver(engine);
    const inherited = Object.getOwnPropertyNames(Object.prototype);
    const names = ["\0", "\ud800", "é", "", "$m", "v", "x".repeat(5000), ...inherited];
    const ones = Object.fromEntries(names.map((name) => [name, 1]));
    const values = Object.fromEntries(names.map((name) => [name, { is: name }]));
    const checkpoint = { ...emptyCheckpoint(), channel_values: values, channel_versions: ones };
    const config = await saver.put(configOf("thread"), checkpoint, metadata, ones);
    const writes = names.map((name): [string, unknown] => [name, name]);
    await saver.putWrites(config, writes, "task");
    const tuple = await saver.getTuple(configOf("thread"));
    expect(tuple?.checkpoint.channel_values).toEqual(values);
    expect(tuple?.checkpoint.channel_versions).toEqual(ones);
    expect(tuple?.pendingWrites).toEqual(writes.map((write) => ["task", ...write]));

    // the next one has the same values, or none of the names
    const next = { ...checkpoint, id: emptyCheckpoint().id };
    await saver.put(config, next, metadata, {});
    await saver.put(configOf("without"), { ...checkpoint, channel_versions: {} }, metadata, {});
    await saver.prune("thread");
    await saver.copyThread("thread", "copy");
    for (const thread of ["thread", "without", "copy"]) {
      const found = (await RepriseSaver.from(store).getTuple(configOf(thread)))?.checkpoint;
      expect(Object.entries(found?.channel_values ?? {})).toEqual(
        expect.arrayContaining(Object.entries(values)),
      );
      expect(Object.keys(found?.channel_values ?? {})).toHaveLength(names.length);
    }
    expect(await saver.stats("thread")).toMatchObject({ interrupted: false });
  });

  it("[SAVER-50] steps of a graph share a shape, whatever its channels are called", async () => {
    const { store, saver } = await freshSaver(engine);
    let config: object = configOf("thread");
    for (let step = 1; step <= 5; step += 1) {
      const versions = { v: step, other: step };
      const checkpoint = {
        ...emptyCheckpoint(),
        channel_values: { v: step, other: step },
        channel_versions: versions,
        versions_seen: { v: { v: step } },
      };
      config = await saver.put(config, checkpoint, metadata, versions);
      expect((await saver.getTuple(config))?.checkpoint).toEqual(checkpoint);
    }
    expect(await store.read(readKept, null)).toMatchObject({ bodies: 1 });
  });
});

describeEngine("a thread of a session", (engine) => {
  it("[SAVER-5] is written with the lease of its session only, and read by everybody", async () => {
    const { store, saver } = await freshSaver(engine);
    const session = await newSession(store);
    const other = await newSession(store);
    const life_ms = 60_000;
    const lease = await store.write(takeLease, { session_id: session.id, owner, life_ms });
    const wrong = await store.write(takeLease, { session_id: other.id, owner, life_ms });
    const thread_id = threadId(session.id, 0);
    const held = createCheckpointSaver({ store, fence: () => lease });
    const config = await held.put(configOf(thread_id), emptyCheckpoint(), metadata, {});

    const refused = { code: "lease_required" };
    for (const without of [saver, createCheckpointSaver({ store, fence: () => wrong })]) {
      expect((await without.getTuple(configOf(thread_id)))?.config).toEqual(config);
      await expect(
        without.put(configOf(thread_id), emptyCheckpoint(), metadata, {}),
      ).rejects.toMatchObject(refused);
      await expect(without.putWrites(config, [["a", 1]], "task")).rejects.toMatchObject(refused);
      await expect(
        without.put(configOf(threadId(session.id, 7)), emptyCheckpoint(), metadata, {}),
      ).rejects.toMatchObject(refused);
    }
    expect(await Array.fromAsync(saver.list(configOf(thread_id)))).toHaveLength(1);
    expect(await Array.fromAsync(saver.list({}))).toHaveLength(1);
  });

  it("[SAVER-6] is not one that was there before the session", async () => {
    const { store, saver } = await freshSaver(engine);
    const [taken, free] = [newId(), newId()];
    await putEmpty(saver, configOf(threadId(taken, 3)));
    await putEmpty(saver, configOf(`${free}:notes`));
    const refused = { code: "session_exists" };
    await expect(store.write(createSession, { id: taken })).rejects.toMatchObject(refused);
    await expect(store.write(createSession, { id: free })).resolves.toMatchObject({ id: free });
    await saver.deleteThread(threadId(taken, 3));
    await expect(store.write(createSession, { id: taken })).resolves.toMatchObject({ id: taken });
  });

  it("[SAVER-6] is created either by the session or without one, never by both", async () => {
    const { store, saver } = await freshSaver(engine);
    for (let index = 0; index < 20; index += 1) {
      const id = newId();
      const settled = await Promise.allSettled([
        store.write(createSession, { id }),
        putEmpty(saver, configOf(threadId(id, 0))),
      ]);
      const codes = settled.flatMap((one) => (one.status === "rejected" ? one.reason.code : []));
      expect(codes).toHaveLength(1);
      expect(["session_exists", "lease_required"]).toContain(codes[0]);
    }
  });
});

describeEngine("two processes on one thread without a session", (engine) => {
  it("[SAVER-7] store every checkpoint whole, one after the other", async () => {
    const { location, open } = await engine.create();
    const store = await open();
    const rounds = 15;
    const programs = ["left", "right"].map((name) =>
      startProgram("saver-invoke.ts", [location, "shared", name, String(rounds)]),
    );
    await Promise.all(programs.map((program) => program.waitFor(/ready/)));
    for (const program of programs) {
      program.child.stdin?.write("go\n");
    }
    const ended = await Promise.all(programs.map(({ finished }) => finished));
    expect(ended.map(({ code, stderr }) => ({ code, stderr }))).toEqual([
      { code: 0, stderr: "" },
      { code: 0, stderr: "" },
    ]);

    const tuples = await Array.fromAsync(RepriseSaver.from(store).list(configOf("shared")));
    expect(tuples).toHaveLength(2 * rounds * 3);
    const texts = new Map(
      tuples.map(({ checkpoint }) => [
        checkpoint.id,
        ((checkpoint.channel_values["messages"] ?? []) as BaseMessage[]).map(({ text }) => text),
      ]),
    );
    const said = new Set<string>();
    for (const { checkpoint, parentConfig } of tuples) {
      const before = texts.get(String(parentConfig?.configurable?.["checkpoint_id"])) ?? [];
      const after = texts.get(checkpoint.id) ?? [];
      expect(after.slice(0, before.length)).toEqual(before);
      for (const text of after.slice(before.length)) {
        said.add(text);
      }
    }
    expect(said.size).toBe(2 * rounds * 2);
    expect((await store.read(readKept, null)).dangling).toEqual([]);
  });
});
