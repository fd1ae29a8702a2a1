import { expect, it, onTestFinished } from "vitest";

import { openStoreAt } from "../helpers/open-store.ts";
import { liveOf, liveOnce, storedPieces } from "../helpers/live.ts";
import { heldThenFast, ID, startAnswer } from "../helpers/slow-answer.ts";

it("[LIVE-2] [LIVE-3] another process sees the text of an answer until the process that writes it is killed", async () => {
  const { home } = await heldThenFast();
  const store = await openStoreAt(home.database);
  onTestFinished(() => store.close());
  const running = await startAnswer(home);
  const { live, exchange } = await liveOnce(store, ID, (found) => found.live?.text === "w0 w1 ");
  expect(exchange?.state).toBe("running");
  await running.stop("SIGKILL");
  const cut = await liveOf(store, ID);
  expect(cut).toMatchObject({ live: null, exchange: { n: 1, state: "interrupted" }, messages: [] });

  const answer = await home.call(["--session", ID, "-p", "another question"]);
  expect(answer.stdout).toContain("a short one");
  const after = await liveOf(store, ID, { after_seq: 2 });
  expect(after).toMatchObject({ live: null, exchange: { n: 2, state: "done" } });
  expect(after.messages.map(({ content }) => content)).toEqual(["a short one"]);
  expect((await storedPieces(store)).map(({ text }) => text)).toEqual([live?.text]);
});
