import { join } from "node:path";

import { expect, it } from "vitest";

import type { ReadChanges } from "../../../src/cli/terminal/rows/exchange-rows.ts";
import { changesOfCalls } from "../../../src/exchange/undo/show-changes.ts";
import { keptBytesIn } from "../../../src/workspace/undo/kept-bytes.ts";
import { readMessagesAfter } from "../../../src/store/records/messages/read.ts";
import { openBench } from "../../helpers/exchanger.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import { withoutTimes } from "../../helpers/screen-file.ts";
import { temporaryFolder } from "../../helpers/temp.ts";
import { scriptedExchange } from "./scripted-exchange.ts";

const call = (name: string, args: object) => ({ name, arguments: JSON.stringify(args) });

it("[TERM-10] [TERM-12] [TERM-17] shows a real exchange with a sub-agent, its changes, and the same when it is resumed", async () => {
  const server = await startModelServer({
    answer: (messages) => {
      const last = messages.at(-1);
      const done = messages.filter(({ role }) => role === "assistant").length;
      if (messages.some(({ content }) => content === "write it")) {
        return done === 0
          ? { toolCalls: [call("write_file", { path: "b.txt", content: "b\n" })] }
          : { content: "Written." };
      }
      return last?.role === "user"
        ? { toolCalls: [call("write_file", { path: "a.txt", content: "a\n" })] }
        : done === 1
          ? {
              toolCalls: [
                call("read_file", { path: "a.txt" }),
                call("read_file", { path: "none.txt" }),
                call("delegate", { persona: "assistant", task: "write it" }),
              ],
            }
          : { content: "All done." };
    },
  });
  const undoFolder = join(temporaryFolder(), "undo");
  const bench = await openBench(server, {}, { undoFolder });
  const kept = keptBytesIn(undoFolder);
  const changes: ReadChanges = (calls) => changesOfCalls({ store: bench.store, kept }, calls);
  const { view, printed } = scriptedExchange({ changes });
  view.user("do it");
  view.begin();
  await view.finish(await bench.run({ text: "do it" }, { listener: view.show }));
  const begin = ["> do it", ""];
  const change = ["✓ write_file a.txt  +1 -0  [1]", "  1 + a"];
  const read = [
    "✓ Explored: read_file  1 failed  [2]",
    "  a.txt, none.txt",
    "  ✗ read_file none.txt: there is no such file; list_files or find_files shows ",
    "  what there is",
  ];
  const end = ["", "All done."];
  // tokens differ, too
  expect(withoutTimes(printed)).toEqual([
    ...begin,
    ...change,
    ...read,
    "✓ delegate assistant: write it  +1 -0  1 call  [3]",
    "  Written.",
    "  1 + b",
    ...end,
    "2 files +2 -0 · /undo · /diff",
  ]);
  expect(printed.at(-2)).toMatch(/^done in \d+ s/);

  const again = scriptedExchange({ changes });
  const page = { session_id: bench.session.id, after_seq: 0, all: false, limit: 100 };
  await again.view.replay(await bench.store.read(readMessagesAfter, page), { exchanges: 1 });
  // what a sub-agent did is in its own session
  expect(again.printed).toEqual([
    ...begin,
    ...change,
    ...read,
    "✓ delegate assistant: write it  [3]",
    "  Written.",
    ...end,
  ]);
});
