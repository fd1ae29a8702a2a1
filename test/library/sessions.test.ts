import { expect, it } from "vitest";

import { readLimits } from "../../src/store/records/sessions/limits.ts";
import { describeEngine } from "../helpers/engines.ts";
import { echo, openOn } from "../helpers/graphs.ts";
import { openStoreAt } from "../helpers/open-store.ts";
import { startTestServer } from "../helpers/server.ts";
import { temporaryFolder } from "../helpers/temp.ts";

describeEngine("sessions of openReprise", (engine) => {
  it("[GRAPH-23] refuse arguments of `run` that it cannot use, and an empty message", async () => {
    const { reprise, id } = await openOn(engine);
    const wrong: readonly (readonly [session: unknown, input: unknown, options?: unknown])[] = [
      [42, "hi"],
      [id, ""],
      [id, { messages: [{ role: "user", content: "" }] }],
      [id, "hi", null],
      [id, "hi", { whenBusy: "takeover" }],
      [id, "hi", { repeatable: "clock" }],
      [id, "hi", { repeats: "maybe" }],
      [id, "hi", { agent: 42 }],
      [id, "hi", { signal: {} }],
    ];
    for (const [session, input, options] of wrong) {
      await expect(
        reprise.run(session as string, echo().compile(), input as string, options as object),
      ).rejects.toMatchObject({
        code: "invalid_request",
        message: expect.stringMatching(/ (Give|must be) /) as string,
      });
    }
    expect(await reprise.sessions.get(id)).toMatchObject({ last_seq: 0 });
  });

  it("[GRAPH-42] take only null for continuing, and no message that cannot be stored unchanged", async () => {
    const { reprise, id } = await openOn(engine);
    await reprise.sessions.append(id, "waits");
    for (const input of [undefined, "a\0b", { role: "user", content: "a\ud800" }]) {
      const refused = reprise.run(id, echo().compile(), input as string);
      await expect(refused).rejects.toMatchObject({ code: "invalid_request" });
    }
    expect(await reprise.sessions.get(id)).toMatchObject({ last_seq: 1, activity: "idle" });
  });

  it("[GRAPH-49] take no input that holds nothing for the graph", async () => {
    const { reprise, id } = await openOn(engine);
    const refused = {
      code: "invalid_request",
      message: expect.stringContaining(" Give ") as string,
    };
    const map = new Map([["messages", "hi"]]);
    for (const input of [{ input: "hi" }, {}, [], Promise.resolve("hi"), map, new Date()]) {
      await expect(reprise.run(id, echo().compile(), input)).rejects.toMatchObject(refused);
    }
    expect(await reprise.sessions.get(id)).toMatchObject({ last_seq: 0, activity: "idle" });
    expect(await reprise.run(id, echo().compile(), { messages: [] })).toMatchObject({ answer: "" });
  });

  it("[GRAPH-22] say after close that the database is closed; a service says that it stops", async () => {
    const { location, reprise, id } = await openOn(engine);
    await reprise.close();
    const closed = { code: "shutting_down", message: "The database was closed. Open it again." };
    await expect(reprise.sessions.get(id)).rejects.toMatchObject(closed);
    await expect(reprise.run(id, echo().compile(), "hi")).rejects.toMatchObject(closed);
    const store = await openStoreAt(location);
    await using server = await startTestServer({ store });
    await store.close();
    const { status, json } = await server.call("GET", `/api/sessions/${id}`);
    const detail = expect.stringContaining("Reprise is shutting down") as string;
    expect({ status, json }).toMatchObject({ status: 503, json: { detail } });
  });

  it("[GRAPH-19] answer as the HTTP API does", async () => {
    const { location, reprise, id } = await openOn(engine);
    const { sessions } = reprise;
    const store = await openStoreAt(location);
    await using server = await startTestServer({ store });
    const http = async (path: string) => (await server.call("GET", path)).json;

    expect(await sessions.append(id, "hello", { idempotencyKey: "k" })).toEqual(
      await sessions.append(id, "hello", { idempotencyKey: "k" }),
    );
    const other = await sessions.create({ model_override: "demo", repo_path: "/tmp" });
    expect(other).toMatchObject({ model: "demo", repo_path: "/tmp", last_seq: 0 });
    expect(await sessions.get(id.slice(0, 13))).toEqual(await http(`/api/sessions/${id}`));
    const first = await sessions.list({ limit: 1 });
    expect(first.sessions).toEqual(await http("/api/sessions?limit=1"));
    const second = await sessions.list({ limit: 1, cursor: first.next ?? "" });
    expect([...first.sessions, ...second.sessions]).toEqual(await http("/api/sessions"));
    expect(second.next).toBeNull();
    expect(await sessions.end(id)).toMatchObject({ id, state: "ended", seq: 1 });
  });

  it("[HTTP-200] patch changes a session as PATCH does, with the same refusals", async () => {
    const { location, reprise, id } = await openOn(engine);
    const { sessions } = reprise;
    const store = await openStoreAt(location);
    await using server = await startTestServer({ store });
    const http = async (path: string) => (await server.call("GET", path)).json;

    const given = { name: "Größe", metadata: { a: "1", b: "2" }, archived: true };
    const named = await sessions.patch(id.slice(0, 13), given);
    expect(named).toMatchObject({ id, name: "Größe", metadata: { a: "1", b: "2" } });
    expect(named.archived_at).not.toBeNull();
    expect([named]).toEqual(await http("/api/sessions"));
    const folder = temporaryFolder();
    const changed = await sessions.patch(id, {
      name: null,
      model: "demo:other",
      persona_name: "planner",
      plan_mode: true,
      metadata: { a: null },
      archived: false,
      repo_path: folder,
      token_limits: { session: 10, tree: 20 },
    });
    expect(changed).toMatchObject({
      name: null,
      model: "demo:other",
      persona_name: "planner",
      plan_mode: true,
      metadata: { b: "2" },
      archived_at: null,
      repo_path: folder,
    });
    await sessions.patch(id, { plan_mode: false, token_limits: { tree: null } });
    expect(await store.read(readLimits, { id })).toEqual({
      tokens: { session: 10 },
      prices: {},
    });
    expect(await sessions.patch(id, {})).toEqual({ ...changed, plan_mode: false });

    const { id: own } = await sessions.create();
    await reprise.run(own, echo().compile(), "hi");
    await sessions.end(id);
    const refused: readonly (readonly [() => Promise<unknown>, string])[] = [
      [() => sessions.patch(id, { title: "no such field" } as object), "invalid_request"],
      [() => sessions.patch(id, { name: "" }), "invalid_request"],
      [() => sessions.patch(id, { metadata: { "1": "x" } }), "invalid_request"],
      [() => sessions.patch(id, "name" as never), "invalid_request"],
      [() => sessions.patch(42 as never, {}), "invalid_request"],
      [() => sessions.patch("ffffffff", {}), "session_not_found"],
      [() => sessions.patch(id, { model: "demo:echo", name: "x" }), "session_ended"],
      [() => sessions.patch(own, { persona_name: "planner" }), "invalid_request"],
    ];
    for (const [call, code] of refused) {
      await expect(call()).rejects.toMatchObject({ code });
    }
    expect(await sessions.patch(id, { name: "kept" })).toMatchObject({ name: "kept" });
  });

  it("[GRAPH-19] refuse what the HTTP API refuses, with the same codes", async () => {
    const { reprise, id } = await openOn(engine);
    const { sessions } = reprise;
    await sessions.end(id);
    const refused: readonly (readonly [() => Promise<unknown>, string])[] = [
      [() => sessions.create({ repo_path: "relative" }), "invalid_request"],
      [() => sessions.create({ title: "no such field" } as object), "invalid_request"],
      [() => sessions.append(id, ""), "invalid_request"],
      [() => sessions.append(id, "a\0b"), "invalid_request"],
      [() => sessions.append(id, "x".repeat(2 ** 20 + 1)), "body_too_large"],
      [() => sessions.append(id, "late"), "session_ended"],
      [() => sessions.append(id, "x", { idempotencyKey: "é" }), "invalid_request"],
      [() => sessions.get("ffffffff"), "session_not_found"],
      [() => sessions.list({ limit: 0 }), "invalid_request"],
      [() => sessions.list({ cursor: "bm9uZQ" }), "invalid_request"],
      [() => sessions.get(42 as never), "invalid_request"],
      [() => sessions.append(id, "x", null as never), "invalid_request"],
      [() => reprise.run(id, {} as never, "hi"), "graph_unsuitable"],
    ];
    for (const [call, code] of refused) {
      await expect(call()).rejects.toMatchObject({ code });
    }
  });
});
