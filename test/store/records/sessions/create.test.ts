import { expect, it } from "vitest";

import { createSession } from "../../../../src/store/records/sessions/create.ts";
import { listSessions } from "../../../../src/store/records/sessions/list.ts";
import { readSession } from "../../../../src/store/records/sessions/read.ts";
import { describeEngines, execute, newSession, openFresh } from "../../../helpers/engines.ts";

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describeEngines("createSession", (engine) => {
  it("gives a session without input every default", async () => {
    const store = await openFresh(engine);

    expect(await store.write(createSession, {})).toEqual({
      id: expect.stringMatching(UUID_V4),
      state: "active",
      activity: "idle",
      title: null,
      name: null,
      archived_at: null,
      pinned_at: null,
      persona_name: null,
      model: null,
      effort: null,
      cache: null,
      fallback: null,
      repo_path: null,
      project_key: null,
      project_id: null,
      plan_mode: false,
      parent_session_id: null,
      depth: 0,
      total_input_tokens: 0,
      total_output_tokens: 0,
      thread_suffix: 0,
      last_seq: 0,
      created_at: expect.stringMatching(INSTANT),
      last_message_at: null,
      ended_at: null,
      parent_call_id: null,
      agent: null,
    });
  });

  it("keeps what it was given", async () => {
    const store = await openFresh(engine);
    const given = {
      id: "0a1b2c3d-0000-4000-8000-00000000000f",
      persona_name: "planner",
      model: "anthropic:some-model",
      repo_path: "/home/me/Projekte/Grüße",
      project_key: "0123456789abcdef",
      plan_mode: true,
    };

    const created = await store.write(createSession, given);

    expect(created).toMatchObject(given);
    expect(await store.read(readSession, { id: given.id })).toEqual(created);
  });

  it("refuses an id that exists and does not change its session", async () => {
    const store = await openFresh(engine);
    const first = await newSession(store, { model: "demo" });

    await expect(
      store.write(createSession, { id: first.id, model: "other" }),
    ).rejects.toMatchObject({ name: "RepriseError", code: "invalid_request" });
    expect(await store.read(readSession, { id: first.id })).toEqual(first);
  });

  it("[STORE-2] lists a row that was inserted with only its key, with every default", async () => {
    const store = await openFresh(engine);
    const made = await newSession(store);
    const id = "11111111-0000-4000-8000-000000000001";

    await execute(store, `INSERT INTO sessions (id) VALUES ('${id}')`);

    const { sessions } = await store.read(listSessions, { limit: 10 });
    const inserted = sessions.find((session) => session.id === id);
    expect(inserted).toEqual({ ...made, id, created_at: expect.stringMatching(INSTANT) });
  });

  it("[STORE-8] makes a sub-agent's session one level deeper than its parent, at most three", async () => {
    const store = await openFresh(engine);
    let parent = await newSession(store);
    for (const depth of [1, 2, 3]) {
      parent = await newSession(store, { parent_session_id: parent.id });
      expect(parent.depth).toBe(depth);
    }

    await expect(
      store.write(createSession, { parent_session_id: parent.id }),
    ).rejects.toMatchObject({ code: "depth_exceeded" });
    await expect(
      store.write(createSession, { parent_session_id: parent.id, depth: 0 }),
    ).rejects.toMatchObject({ code: "depth_exceeded" });
    await expect(store.write(createSession, { depth: 4 })).rejects.toMatchObject({
      code: "depth_exceeded",
    });
    expect((await store.read(listSessions, { limit: 10 })).sessions).toHaveLength(4);
  });

  it.each([4, -1])("[STORE-8] the database itself refuses depth %i", async (depth) => {
    const store = await openFresh(engine);

    await expect(
      execute(store, `INSERT INTO sessions (id, depth) VALUES ('forged', ${depth})`),
    ).rejects.toThrow(/CHECK|check/);
    expect((await store.read(listSessions, { limit: 10 })).sessions).toEqual([]);
  });

  it("refuses a parent that does not exist", async () => {
    const store = await openFresh(engine);

    await expect(
      store.write(createSession, { parent_session_id: "00000000-0000-4000-8000-000000000000" }),
    ).rejects.toMatchObject({ code: "session_not_found" });
  });
});
