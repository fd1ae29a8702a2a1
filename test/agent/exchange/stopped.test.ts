import { setTimeout as sleep } from "node:timers/promises";

import { expect, it } from "vitest";

import { readSession } from "../../../src/store/records/sessions/read.ts";
import { expectNoDrift } from "../../helpers/compare.ts";
import { openBench } from "../../helpers/exchanger.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import { startScriptedProvider } from "../../helpers/scripted-provider.ts";

it("[EXCHANGE-8] a stopped exchange keeps the text that had arrived, and the session continues", async () => {
  const words = Array.from({ length: 60 }, (_, index) => `word${index} `).join("");
  const server = await startModelServer({
    latencyMs: 20,
    chunkSize: 7,
    answer: (_messages, index) => ({ content: index === 0 ? words : "short" }),
  });
  const bench = await openBench(server);
  const stop = new AbortController();
  const result = await bench.run(
    { text: "count" },
    {
      signal: stop.signal,
      listener: (event) => {
        if (event.type === "text") {
          void sleep(100).then(() => stop.abort());
        }
      },
    },
  );
  expect(result.state).toBe("stopped");
  expect(result.answer).not.toBe("");
  expect(words.startsWith(result.answer)).toBe(true);
  const rows = await expectNoDrift(bench.database, bench.session.id);
  expect(rows.map(({ role, content }) => [role, content])).toEqual([
    ["user", "count"],
    ["assistant", result.answer],
  ]);
  const { activity } = await bench.store.read(readSession, { id: bench.session.id });
  expect(activity).toBe("idle");
  await bench.run({ text: "and on" });
  expect(server.requests()[1]?.map(({ content }) => content)).toEqual([
    "count",
    result.answer,
    "and on",
  ]);
});

it("[EXCHANGE-9] [EXCHANGE-38] [EXCHANGE-39] a second exchange is refused by name, waits with `wait`, and stops the first with `take_over`", async () => {
  const held = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  const text = (words: string) => ({ kind: "text", text: words }) as const;
  await using provider = await startScriptedProvider("openai", (index) =>
    index % 2 === 0
      ? [text("begun "), { kind: "wait", until: held[index / 2]!.promise }, text("done")]
      : [text("a short answer")],
  );
  const bench = await openBench({ env: () => provider.env });
  const { createExchanger } = await import("../../../src/agent/exchange.ts");
  const begun = Promise.withResolvers<void>();
  const first = bench.run(
    { text: "first" },
    {
      listener: (event) => {
        if (event.type === "text") {
          begun.resolve();
        }
      },
    },
  );
  first.catch(() => undefined);
  await begun.promise;
  const other = createExchanger(bench.parts);
  const live = { listener: () => undefined, signal: new AbortController().signal };
  const request = { session_id: bench.session.id, text: "second" };
  await expect(other.exchange(request, live)).rejects.toMatchObject({
    code: "session_busy",
    message: expect.stringMatching(new RegExp(`process ${process.pid} on .* \\(test\\), since 20`)),
  });
  const waiting = other.exchange({ ...request, when_busy: "wait" }, live);
  held[0].resolve();
  const waited = await waiting;
  await expect(first).resolves.toMatchObject({ state: "done" });
  expect(waited.messages.map(({ seq }) => seq)).toEqual([3, 4]);

  const again = Promise.withResolvers<void>();
  const third = bench.run(
    { text: "third" },
    {
      listener: (event) => {
        if (event.type === "text") {
          again.resolve();
        }
      },
    },
  );
  third.catch(() => undefined);
  await again.promise;
  await other.exchange({ ...request, text: "fourth", when_busy: "take_over" }, live);
  held[1].resolve();
  await expect(third).rejects.toMatchObject({ code: "lease_lost" });
  const rows = await expectNoDrift(bench.database, bench.session.id);
  expect(rows.map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "user",
    "assistant",
    "user",
    "user",
    "assistant",
  ]);
});

it("[EXCHANGE-8] stopped while its first checkpoint is on its way, is not done with the answer before", async () => {
  const server = await startModelServer({ answer: () => ({ content: "the first answer" }) });
  const stop = new AbortController();
  let reads = 0;
  let isLate = false;
  let stored = Promise.resolve();
  const bench = await openBench(server, {}, (store) => ({
    store: {
      ...store,
      // the checkpoint of the input is the first that is written
      write: async (operation, input) => {
        if (!isLate) {
          return store.write(operation, input);
        }
        isLate = false;
        const { promise, resolve } = Promise.withResolvers<void>();
        stored = promise;
        stop.abort();
        await expect.poll(() => reads).toBe(2);
        const written = await store.write(operation, input);
        setImmediate(resolve);
        return written;
      },
      read: async (operation, input) => {
        const read = await store.read(operation, input);
        reads += stop.signal.aborted ? 1 : 0;
        // the thread was read, and is judged once the checkpoint is stored
        if (reads === 2) {
          await stored;
        }
        return read;
      },
    },
  }));
  expect((await bench.run({ text: "first" })).answer).toBe("the first answer");
  const live = {
    signal: stop.signal,
    listener: ({ type }: { readonly type: string }) => {
      isLate ||= type === "started";
    },
  };
  const stopped = await bench.run({ text: "second" }, live);
  expect(stopped).toMatchObject({ state: "stopped", answer: "" });
});
