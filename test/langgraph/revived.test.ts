import { emptyCheckpoint, JsonPlusSerializer } from "@langchain/langgraph-checkpoint";
import { expect, it } from "vitest";

import { openSaver } from "../helpers/checkpoints/saver.ts";

const constructor = (name: unknown, args: unknown, method?: unknown) => ({
  lc: 2,
  type: "constructor",
  id: Array.isArray(name) ? name : [name],
  args,
  ...(method === undefined ? {} : { method }),
});

it("[SAVER-49] makes objects of the same records as JsonPlusSerializer, and leaves the others", async () => {
  const records: readonly unknown[] = [
    { lc: 2, type: "undefined" },
    { lc: 2, type: "delta_snapshot" },
    { lc: 2, type: "delta_snapshot", value: [1] },
    ...[undefined, null, "from", "of", ""].flatMap((method) => [
      constructor("Set", [[1]], method),
      constructor("Map", [[["a", 1]]], method),
      constructor("RegExp", ["a", "g"], method),
      constructor("Error", ["a"], method),
      constructor("Uint8Array", [[1, 255]], method),
    ]),
    ...["Set", "Map", "RegExp", "Error", "Uint8Array", "Function", ["Set", "Set"]].flatMap((name) =>
      [
        undefined,
        {},
        [],
        ["a"],
        [1],
        [[1]],
        [["a", 300]],
        [[-1]],
        [[1.5]],
        [[["a"]]],
        [[["a", 1]]],
        [[1], 2],
        ["a", "b"],
        ["a", "g"],
        ["(", "g"],
        ["a", "g", 1],
        [[["a", 1]], "x"],
      ].map((args) => constructor(name, args)),
    ),
    constructor("Set", [[constructor("Error", ["a"]), constructor("Error", ["a", "b"])]]),
  ];
  await using opened = await openSaver();
  const { saver } = opened;
  await saver.put(
    { configurable: { thread_id: "thread", checkpoint_ns: "" } },
    {
      ...emptyCheckpoint(),
      channel_values: { records: [...records] },
      channel_versions: { records: 1 },
    },
    { source: "loop", step: 1, parents: {} },
    { records: 1 },
  );
  const official = new JsonPlusSerializer();
  const [type, bytes] = await official.dumpsTyped(records);
  const expected: unknown[] = await official.loadsTyped(type, bytes);
  const tuple = await saver.getTuple({ configurable: { thread_id: "thread" } });
  const found = tuple?.checkpoint.channel_values["records"] as unknown[];
  for (const [index, record] of records.entries()) {
    expect(found[index], JSON.stringify(record)).toStrictEqual(expected[index]);
  }
  expect(found).toHaveLength(expected.length);
});
