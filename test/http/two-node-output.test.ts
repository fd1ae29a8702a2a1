import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import type { LiveEvent } from "../../src/core/schemas/live.ts";
import { openSqliteStore } from "../../src/store/engines/sqlite/open.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { openLive, type WireLive } from "../helpers/live-reader.ts";
import { type ModelAnswer, startModelServer } from "../helpers/model-server.ts";
import { freshHome } from "../helpers/reprise.ts";
import { startNode } from "../helpers/service-node.ts";
import { SERVICE_TOKEN } from "../helpers/service-processes.ts";

const authorization = `Bearer ${SERVICE_TOKEN}`;

/** Two processes on one database, of which the first one runs exchanges, and a session in their folder. */
async function startNodes(line: string) {
  const calls: ModelAnswer = {
    toolCalls: [{ id: "c1", name: "run_command", arguments: JSON.stringify({ line }) }],
  };
  const model = await startModelServer({
    answer: (messages) => (messages.at(-1)?.role === "user" ? calls : { content: "end" }),
  });
  const home = freshHome({
    ...model.env("openai"),
    REPRISE_MODEL: "openai:gpt-test",
    REPRISE_TOKEN: SERVICE_TOKEN,
  });
  const runner = await startNode(home, ["--repos", home.project]);
  const other = await startNode(home, ["--jobs", "0"]);
  const store = await openSqliteStore({ path: home.database });
  onTestFinished(() => store.close());
  const { id } = await store.write(createSession, { repo_path: home.project, permission: "all" });
  const open = async ({ url }: { readonly url: string }, lastId?: string): Promise<WireLive> => {
    const from = lastId === undefined ? { query: "?after_seq=0" } : { lastId };
    const live = await openLive(url, id, { ...from, headers: { authorization } });
    onTestFinished(() => live.cut());
    return live;
  };
  return { home, runner, other, id, open };
}

const isOutput = (event: LiveEvent): boolean => event.event === "output";

function snapshotOf([first]: readonly LiveEvent[]) {
  return first?.event === "snapshot" ? first.data : null;
}

it("[LIVE-80] [LIVE-81] readers of two processes get what a command prints, and who comes later its last lines", async () => {
  const line = "seq 30; until [ -e go ]; do sleep 0.02; done; echo over";
  const t = await startNodes(line);
  const readers = [await t.open(t.runner), await t.open(t.other)];
  await t.runner.post(t.id, "go");
  const last = Array.from({ length: 20 }, (_, index) => `${index + 11}\n`).join("");
  for (const reader of readers) {
    const { data } = (await reader.first(isOutput)) as Extract<LiveEvent, { event: "output" }>;
    expect(data).toEqual({ call_id: "c1", lines_before: 10, text: last });
    const events = reader.events().map(({ event }) => event);
    expect(events.indexOf("tool_call")).toBeLessThan(events.indexOf("output"));
  }
  for (const node of [t.runner, t.other]) {
    const late = await t.open(node, readers[0]?.events().at(-1)?.id);
    await late.first(({ event }) => event === "snapshot");
    expect(snapshotOf(late.events())?.outputs).toEqual([
      { call_id: "c1", lines_before: 10, text: last },
    ]);
  }
  writeFileSync(join(t.home.project, "go"), "");
  await t.runner.ended(t.id);
  for (const node of [t.runner, t.other]) {
    const late = await t.open(node);
    await late.first(({ event }) => event === "message");
    expect(snapshotOf(late.events())?.outputs).toEqual([]);
  }
});

it("[LIVE-82] readers see an interrupted exchange without output when the process that ran it was killed", async () => {
  const t = await startNodes("echo begun; sleep 1000");
  const reader = await t.open(t.other);
  await t.runner.post(t.id, "go");
  await reader.first(isOutput);
  await t.runner.service.stop("SIGKILL");
  await reader.first(({ event, data }) => event === "exchange" && data.state === "interrupted");
  const late = await t.open(t.other);
  await late.first(({ event }) => event === "snapshot");
  expect(snapshotOf(late.events())).toMatchObject({
    exchange: { state: "interrupted" },
    calls: [],
    outputs: [],
  });
});
