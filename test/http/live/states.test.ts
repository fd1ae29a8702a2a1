import { expect, it, onTestFinished } from "vitest";

import type { LiveEvent } from "../../../src/core/schemas/live.ts";
import { createClient } from "../../../src/client/client.ts";
import { openLive, type WireLive } from "../../helpers/live-reader.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import { startRunningService, TOKEN } from "../../helpers/paying-service.ts";
import { startScriptedProvider, type Step } from "../../helpers/scripted-provider.ts";
import { startTestServer } from "../../helpers/server.ts";

const authorization = `Bearer ${TOKEN}`;

/** A service that asks the scripted model, and another node that only reads its database. */
async function startNodes(
  script: (index: number) => readonly Step[],
  options: { readonly retryDelayMs?: number } = {},
) {
  const provider = await startScriptedProvider("anthropic", script);
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const t = await startRunningService(provider.env, options);
  const elsewhere = await openStoreAt(t.path);
  onTestFinished(() => elsewhere.close());
  const other = await startTestServer({ token: TOKEN, store: elsewhere });
  onTestFinished(() => other[Symbol.asyncDispose]());
  const nodes = [t, other];
  const open = (lastId?: string): Promise<WireLive[]> =>
    Promise.all(
      nodes.map(async ({ url }) => {
        const resumed = lastId === undefined ? { query: "?after_seq=0" } : { lastId };
        const live = await openLive(url, t.id, { ...resumed, headers: { authorization } });
        onTestFinished(() => live.cut());
        return live;
      }),
    );
  return { ...t, open, client: createClient({ baseUrl: t.url, token: TOKEN }) };
}

/** What `select` finds in the first such event of each reader, once each has one. */
async function each<Found extends object>(
  readers: readonly WireLive[],
  select: (event: LiveEvent) => Found | false,
): Promise<Found[]> {
  const all: Found[] = [];
  for (const live of readers) {
    const found = select(await live.first((event) => select(event) !== false));
    all.push(...(found === false ? [] : [found]));
  }
  return all;
}

const reached = (state: string) => (event: LiveEvent) =>
  event.event === "exchange" && event.data.state === state && event.data;

const snapshotOf = async (live: WireLive) =>
  (await each([live], ({ event, data }) => event === "snapshot" && data))[0]!;

it("[LIVE-32] shows questions, calls and tokens on every node, and the current ones to who comes again", async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const t = await startNodes((index) =>
    index === 0
      ? [
          { kind: "text", text: "Let me see. " },
          { kind: "call", name: "read_file", args: '{"path":"note.txt"}', size: 4 },
          { kind: "call", name: "pay", args: '{"what":"rent"}', size: 4 },
          { kind: "usage", input: 1, output: 1 },
        ]
      : [
          { kind: "text", text: "Paid" },
          { kind: "wait", until: released },
          { kind: "text", text: " 👩‍🚀e\u0301." },
          { kind: "usage", input: 1, output: 1 },
        ],
  );
  onTestFinished(() => release());
  const readers = await t.open();
  await t.client.queueExchange(t.id, "pay");

  const [asked, askedElsewhere] = await each(
    readers,
    ({ event, data }) => event === "question" && data,
  );
  expect(asked).toMatchObject({ kind: "permission", text: "Pay rent?", state: "open" });
  expect(askedElsewhere).toEqual(asked);
  await each(readers, reached("waiting"));
  const lastId = readers[0]!.events().at(-1)!.id;
  const again = await t.open(lastId);
  for (const live of again) {
    const { questions, exchange } = await snapshotOf(live);
    expect(questions).toEqual([asked]);
    expect(exchange).toMatchObject({ n: 1, state: "waiting" });
  }

  await t.client.answerQuestion(t.id, asked!.id, { choice: "allow_once" });
  const all = [...readers, ...again];
  for (const answered of await each(
    all,
    ({ event, data }) => event === "question" && data.state !== "open" && data,
  )) {
    expect(answered).toMatchObject({ id: asked!.id, state: "answered", choice: "allow_once" });
  }
  await each(all, ({ event, data }) => event === "text" && data.text === "Paid" && data);
  // of the first answer: it continues with what was used before the question
  const late = await t.open();
  for (const live of late) {
    const { questions, exchange, usage, text } = await snapshotOf(live);
    expect(questions).toEqual([]);
    expect(exchange).toMatchObject({ n: 1, state: "running" });
    expect(usage).toEqual({ n: 1, input_tokens: 1, output_tokens: 1 });
    // it comes after the messages that the reader does not have
    expect(text).toBeNull();
  }
  release();
  for (const done of await each(all, reached("done"))) {
    expect(done).toMatchObject({ n: 1, input_tokens: 2, output_tokens: 2 });
  }
  for (const live of [...all, ...late]) {
    const revisions = live
      .events()
      .flatMap(({ event, data }) =>
        event === "snapshot"
          ? (data.exchange?.revision ?? [])
          : event === "exchange"
            ? data.revision
            : [],
      );
    expect(revisions).toEqual([...new Set(revisions)].sort((one, other) => one - other));
    const tokens = live
      .events()
      .flatMap(({ event, data }) => (event === "usage" ? data.input_tokens : []));
    expect(tokens).toEqual(tokens.toSorted((one, other) => one - other));
  }
  // who runs it sees both calls, and the result before it is stored, unless that takes less time than an event;
  // `running` may be missing of a short call
  const [here] = readers;
  const statuses = here!.events().flatMap(({ event, data }) => {
    if (event === "message" && data.role === "tool") {
      return "stored";
    }
    return event === "tool_call" ? `${data.name} ${data.status}` : [];
  });
  expect(statuses).toContain("pay running");
  expect(statuses.some((status) => status === "read_file ok" || status === "stored")).toBe(true);
  expect(t.paid()).toEqual(["rent"]);
  expect(t.failures).toEqual([]);
});

it("[LIVE-32] shows on every node why the model is asked again, until it answers or is stopped", async () => {
  const t = await startNodes(
    (index) =>
      index === 0
        ? [{ kind: "text", text: "Lost" }, { kind: "drop" }]
        : [{ kind: "status", status: 503 }],
    { retryDelayMs: 3_600_000 },
  );
  const readers = await t.open();
  await t.client.queueExchange(t.id, "hello");
  const [here, there] = await each(
    readers,
    ({ event, data }) => event === "retry" && data !== null && data,
  );
  expect(here).toMatchObject({ attempt: 2, code: "model_unreachable" });
  expect(Date.parse(here!.until)).toBeGreaterThan(Date.now());
  expect(there).toEqual(here);
  const again = await t.open(readers[0]!.events().at(-1)!.id);
  for (const live of again) {
    const { retry, text } = await snapshotOf(live);
    expect(retry).toEqual(here);
    expect(text).toBeNull();
  }
  await t.client.stopExchange(t.id, 1);
  const all = [...readers, ...again];
  await each(all, reached("stopped"));
  await each(all, (event) => event.event === "retry" && event.data === null && event);
  for (const live of all) {
    const answers = live
      .events()
      .flatMap(({ event, data }) =>
        event === "message" && data.role === "assistant" ? data.content : [],
      );
    // a stop keeps what had arrived (RETRY-5), in a message whose text was void before
    expect(answers).toEqual(["Lost"]);
  }
  expect(t.failures).toEqual([]);
});
