import { HumanMessage } from "@langchain/core/messages";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { expect, it } from "vitest";

import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import type { FreeThread } from "../../../src/store/portable/portable-threads.ts";
import { threadChecksumOf, threadExportText } from "../../../src/store/portable/export-text.ts";
import { readFreeThread } from "../../../src/store/portable/free-thread.ts";
import { parseThreadExport } from "../../../src/store/portable/parse.ts";
import { createDatabase } from "../../helpers/database.ts";
import { openStoreAt } from "../../helpers/open-store.ts";

type Draft = { -readonly [Key in keyof FreeThread]: FreeThread[Key] };

/** A message by itself, in a list, in a large value and in a write; a chunk of another value. */
async function exportedThread(): Promise<FreeThread> {
  await using database = await createDatabase();
  await using store = await openStoreAt(database.location);
  const saver = createCheckpointSaver({ store });
  const message = new HumanMessage({ id: "m", content: "question" });
  const versions = { messages: 1, one: 1, large: 1 };
  const config = await saver.put(
    { configurable: { thread_id: "thread", checkpoint_ns: "" } },
    {
      ...emptyCheckpoint(),
      channel_versions: versions,
      channel_values: {
        messages: [message],
        one: { message },
        large: { text: "x".repeat(2000), message },
      },
    },
    { source: "loop", step: 1, parents: {} },
    versions,
  );
  await saver.putWrites(config, [["one", { message }]], "task");
  return store.read(readFreeThread, { thread_id: "thread" });
}

/** Parses an export of the thread after a change that its checksum knows. */
function parseChanged(thread: FreeThread, change: (draft: Draft) => void): FreeThread {
  const draft = structuredClone(thread) as Draft;
  change(draft);
  const text = [...threadExportText(draft, "2026-01-01T00:00:00.000Z")].join("");
  expect(JSON.parse(text)).toMatchObject({ sha256: threadChecksumOf(draft) });
  return parseThreadExport(text);
}

it("[THREAD-20] an export with the right checksum is refused if a checkpoint of it cannot be read", async () => {
  const thread = await exportedThread();
  expect(parseChanged(thread, () => undefined)).toEqual(thread);
  const [checkpoint] = thread.checkpoints;
  const large = checkpoint?.channels["large"] as { c: number[]; r: number[] };
  const chunk = large.c[0] ?? -1;
  const other = thread.bodies.findIndex((body) => body.startsWith("{"));
  const inChannel = (name: string, value: unknown) => (draft: Draft) => {
    draft.checkpoints = draft.checkpoints.map((one) => ({
      ...one,
      channels: { ...one.channels, [name]: value },
    }));
  };
  const inCheckpoint = (members: object) => (draft: Draft) => {
    draft.checkpoints = draft.checkpoints.map((one) => ({ ...one, ...members }));
  };
  const cases: readonly ((draft: Draft) => void)[] = [
    inChannel("large", { c: large.c }),
    inChannel("large", { c: large.c, r: [chunk] }),
    inChannel("large", { c: large.c, r: [other] }),
    inChannel("large", { c: large.r, r: large.r }),
    inChannel("large", { c: large.c.slice(1), r: large.r }),
    inChannel("messages", { c: [] }),
    inChannel("one", [{ message: { $m: 1 } }, large.r]),
    inChannel("one", [{ message: { $m: 0 } }]),
    inChannel("one", [{ $l: "x" }, large.r]),
    inCheckpoint({ metadata: [{ step: { $m: 0 } }] }),
    inCheckpoint({ versions: "1" }),
    inCheckpoint({ versions: `${checkpoint?.versions},1` }),
    inCheckpoint({ shape: chunk }),
    (draft) => {
      draft.lists = draft.lists.map((list) => ({ ...list, items: [chunk] }));
    },
    (draft) => {
      draft.writes = draft.writes.map((one) => ({ ...one, writes: [[0, "one", [{ $m: 0 }]]] }));
    },
  ];
  for (const [index, change] of cases.entries()) {
    const parse = () => parseChanged(thread, change);
    expect(parse, `case ${index}`).toThrow(
      expect.objectContaining({
        code: "export_invalid",
        faults: [
          {
            pointer: expect.stringMatching(/^\/(checkpoints|writes)\/0$/),
            message: expect.any(String),
          },
        ],
      }),
    );
  }
});
