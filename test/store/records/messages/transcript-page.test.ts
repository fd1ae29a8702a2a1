import { expect, it } from "vitest";

import { readTranscriptPage } from "../../../../src/store/records/messages/transcript-page.ts";
import { openBench } from "../../../helpers/sessions/bench.ts";

it("[EXPORT-3] a page of a transcript has 1 MiB at most", async () => {
  const { store, id, append } = await openBench();
  for (const letter of ["a", "b", "c"]) {
    await append(letter.repeat(600_000));
  }
  const first = await store.read(readTranscriptPage, { session_id: id, after_seq: 0 });
  expect(first.messages.map(({ seq }) => seq)).toEqual([1]);
  expect([first.more, [...first.pending]]).toEqual([true, [1]]);
});
