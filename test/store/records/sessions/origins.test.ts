import { expect, it } from "vitest";

import {
  GUEST,
  type Principal,
  localPrincipal,
  tokenHolder,
} from "../../../../src/core/principal.ts";
import { finishExchange } from "../../../../src/store/checkpoints/finish.ts";
import { takeLease } from "../../../../src/store/records/leases/lease.ts";
import { appendUserMessage } from "../../../../src/store/records/messages/append.ts";
import { beginExchange } from "../../../../src/store/records/messages/begin-exchange.ts";
import { readPending } from "../../../../src/store/records/messages/read.ts";
import { startThread, takeFolder } from "../../../../src/store/records/sessions/change.ts";
import {
  isChosen,
  markChosen,
  readLatestChosen,
} from "../../../../src/store/records/sessions/choose.ts";
import { openChild } from "../../../../src/store/records/sessions/open-child.ts";
import {
  acceptChoices,
  acceptMessages,
  readWaiting,
  WAITING_CHARACTERS,
  WAITING_MESSAGES,
} from "../../../../src/store/records/messages/waiting.ts";
import type { Store } from "../../../../src/store/store.ts";
import { readSessionTree } from "../../../../src/store/portable/read-tree.ts";
import {
  describeEngines,
  execute,
  newSession,
  openFresh,
  owner,
} from "../../../helpers/engines.ts";

const USER: Principal = localPrincipal("terminal", null);
const TOKEN: Principal = tokenHolder("owner");
const NOBODY: Principal = GUEST;
const KEY = "0123456789abcdef";

describeEngines("the origin of messages and settings", (engine) => {
  it("[ORIGIN-1] messages and changes keep their origin and whether the caller was authenticated", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store, { model: "demo", principal: NOBODY });
    await append(store, id, "from nobody", NOBODY);
    await append(store, id, "with the token", TOKEN);
    await store.write(startThread, {
      id,
      archive: false,
      persona_name: "planner",
      principal: USER,
    });
    const folder = { repo_path: "/elsewhere", project_key: KEY };
    await store.write(takeFolder, { id, ...folder, principal: USER });
    const { session, messages } = await store.read(readSessionTree, { id });
    expect(session).toMatchObject({ origin: "http", authenticated: false });
    expect(session.changes).toMatchObject([
      { field: "persona_name", value: "planner", origin: "terminal" },
      { field: "repo_path", value: "/elsewhere", origin: "terminal" },
    ]);
    expect(messages).toMatchObject([{ origin: "http", authenticated: false }, { origin: "http" }]);
    expect(messages[1]).not.toHaveProperty("authenticated");
  });

  it("[ORIGIN-2] rows that name no origin count as authenticated", async () => {
    const store = await openFresh(engine);
    await execute(store, "INSERT INTO sessions (id, model) VALUES ('before', 'openai:x')");
    await execute(
      store,
      "INSERT INTO messages (session_id, seq, content) VALUES ('before', 1, 'old')",
    );
    const waiting = await store.read(readWaiting, { session_id: "before" });
    expect(waiting).toMatchObject({ choices: {}, unaccepted: { count: 0 } });
    expect(await pendingOf(store, "before")).toEqual(["old"]);
  });

  it("[ORIGIN-3] an exchange gets what came without authentication only once it was accepted", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store, { principal: USER });
    await append(store, id, "planted", NOBODY);
    await append(store, id, "with the token", TOKEN);
    const fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
    const begun = await store.write(beginExchange, {
      fence,
      content: "mine",
      model: "demo",
      persona_name: "assistant",
      principal: USER,
    });
    expect(begun.pending.map(({ content }) => content)).toEqual(["with the token", "mine"]);
    await store.write(finishExchange, { fence, thread_id: `${id}:0` });

    await append(store, id, "came later", NOBODY);
    await store.write(acceptMessages, { session_id: id, through_seq: 3 });
    expect(await pendingOf(store, id)).toEqual(["planted", "with the token", "mine"]);
    expect((await store.read(readWaiting, { session_id: id })).unaccepted).toMatchObject({
      count: 1,
      messages: [{ seq: 4, beginning: "came later", length: 10 }],
    });
  });

  it("[ORIGIN-3] what the clear action archived needs no acceptance", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store, { principal: USER });
    await append(store, id, "planted", NOBODY);
    await store.write(startThread, { id, archive: true, principal: USER });
    await store.write(acceptMessages, { session_id: id, through_seq: 9 });
    expect((await store.read(readWaiting, { session_id: id })).unaccepted.count).toBe(0);
    expect(await pendingOf(store, id)).toEqual([]);
  });

  it("[ORIGIN-4] a model, persona or folder of such a caller waits until it is accepted or replaced", async () => {
    const store = await openFresh(engine);
    const planted = { model: "openai:x", persona_name: "x", repo_path: "/x", project_key: KEY };
    const { id } = await newSession(store, { ...planted, principal: NOBODY });
    const choices = async () => (await store.read(readWaiting, { session_id: id })).choices;
    expect(await choices()).toEqual({ model: "openai:x", persona_name: "x", repo_path: "/x" });
    await store.write(startThread, { id, archive: false, model: "demo", principal: USER });
    expect(await choices()).toEqual({ persona_name: "x", repo_path: "/x" });
    await store.write(startThread, { id, archive: false, model: "openai:y", principal: NOBODY });
    expect(await choices()).toEqual({ model: "openai:y", persona_name: "x", repo_path: "/x" });
    await store.write(acceptChoices, { session_id: id, through_change: 1 });
    // the change came after what was shown
    expect(await choices()).toEqual({ model: "openai:y" });
    await store.write(acceptChoices, { session_id: id, through_change: 2 });
    expect(await choices()).toEqual({});
    const own = await newSession(store, { ...planted, principal: TOKEN });
    expect((await store.read(readWaiting, { session_id: own.id })).choices).toEqual({});
  });

  it("[ORIGIN-4] a model that the user's own exchange recorded was set by the user", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store, { principal: NOBODY });
    const fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
    const own = { model: "demo", persona_name: "assistant", principal: USER };
    await store.write(beginExchange, { fence, content: "mine", ...own });
    expect((await store.read(readWaiting, { session_id: id })).choices).toEqual({});
  });

  it("[ORIGIN-20] a sub-agent's session holds what nobody accepted for its parent", async () => {
    const store = await openFresh(engine);
    const planted = { model: "openai:x", persona_name: "x", repo_path: "/x", project_key: KEY };
    const { id } = await newSession(store, { ...planted, principal: NOBODY });
    const fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
    const open = async (parent_call_id: string) => {
      const call = { parent_call_id, persona_name: "reviewer", model: "openai:x" };
      const child = await store.write(openChild, { fence, ...call });
      return (await store.read(readWaiting, { session_id: child.id })).choices;
    };
    expect(await open("one")).toEqual({ model: "openai:x", repo_path: "/x" });
    await store.write(acceptChoices, { session_id: id, through_change: 0 });
    expect(await open("two")).toEqual({});
  });

  it("[ORIGIN-5] little of what was planted is read to be shown, however much there is", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store, { principal: USER });
    for (let index = 0; index < WAITING_MESSAGES + 5; index += 1) {
      await append(store, id, "é".repeat(WAITING_CHARACTERS + 7), NOBODY);
    }
    const { unaccepted } = await store.read(readWaiting, { session_id: id });
    expect(unaccepted.count).toBe(WAITING_MESSAGES + 5);
    expect(unaccepted.messages).toHaveLength(WAITING_MESSAGES);
    expect(unaccepted.messages[0]).toMatchObject({
      beginning: "é".repeat(WAITING_CHARACTERS),
      length: WAITING_CHARACTERS + 7,
    });
  });

  it("[CLI-85] [CLI-86] the latest session that a terminal, or -p, began or chose", async () => {
    const store = await openFresh(engine);
    const begin = async (principal?: Principal, more = {}): Promise<string> => {
      const { id } = await newSession(store, {
        project_key: KEY,
        ...(principal === undefined ? {} : { principal }),
        ...more,
      });
      // the next one's activity is later
      await execute(
        store,
        `UPDATE sessions SET created_at = '2026-01-01T00:00:0${(moment += 1)}.000Z' WHERE id = '${id}'`,
      );
      return id;
    };
    let moment = 0;
    const latest = async (by: "terminal" | "prompt" | null) =>
      (await store.read(readLatestChosen, { project_key: KEY, by }))?.id;
    expect(await latest(null)).toBeUndefined();
    const before = await begin();
    const terminal = await begin(USER);
    const prompt = await begin(localPrincipal("prompt", null));
    const http = await begin(TOKEN);
    const child = await begin(undefined, { parent_session_id: before, parent_call_id: "c" });
    expect([await latest("terminal"), await latest("prompt"), await latest(null)]).toEqual([
      terminal,
      prompt,
      child,
    ]);
    expect(await store.read(isChosen, { id: before, by: "terminal" })).toBe(true);
    expect(await store.read(isChosen, { id: http, by: "prompt" })).toBe(false);
    await store.write(markChosen, { id: http, by: "prompt" });
    expect([await latest("terminal"), await latest("prompt")]).toEqual([terminal, http]);
    await store.write(markChosen, { id: http, by: "terminal" });
    expect([await latest("terminal"), await latest("prompt")]).toEqual([http, http]);
  });

  it("[CLI-92] a session without a folder gets one once", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store, { principal: TOKEN });
    const take = (repo_path: string, project_key: string) =>
      store.write(takeFolder, { id, repo_path, project_key, principal: USER });
    const [one, two] = await Promise.allSettled([
      take("/a", KEY),
      take("/b", KEY.replace("0", "1")),
    ]);
    expect([one.status, two.status].sort()).toEqual(["fulfilled", "rejected"]);
    const won = one.status === "fulfilled" ? one : two;
    expect(won).toMatchObject({ value: { repo_path: expect.stringMatching(/^\/[ab]$/) } });
  });
});

async function append(
  store: Store,
  id: string,
  content: string,
  principal: Principal,
): Promise<void> {
  await store.write(appendUserMessage, { reference: id, content, principal });
}

async function pendingOf(store: Store, id: string): Promise<string[]> {
  const pending = await store.read(readPending, { session_id: id });
  return pending.map(({ content }) => content);
}
