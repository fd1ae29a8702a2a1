import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";

import { expect, it, onTestFinished } from "vitest";

import { RepriseError } from "../../../src/core/errors.ts";
import { createSessionWatcher } from "../../../src/exchange/live/session-watcher.ts";
import { createEventStreams } from "../../../src/http/events/event-streams.ts";
import type { StreamAnswer } from "../../../src/http/stream/open-answers.ts";
import type { Store } from "../../../src/store/store.ts";
import { createDatabase } from "../../helpers/database.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import { until } from "../../helpers/unread.ts";

/** A real store whose reads fail while `isAway` is set. */
async function openPassing() {
  const database = await createDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const opened = await openStoreAt(database.location);
  onTestFinished(() => opened.close());
  const state = { isAway: true };
  const read: Store["read"] = (operation, input) =>
    state.isAway
      ? Promise.reject(new RepriseError("database_unavailable", "It is away."))
      : opened.read(operation, input);
  return { store: { ...opened, read }, state };
}

it("[EVENTS-1] a reader that comes once the database is back is served, also while another one waits that shares a failed read", async () => {
  const { store, state } = await openPassing();
  const settings = { pollMs: 500, livePollMs: 60, heartbeatMs: 15_000, stallMs: 500 };
  const nothing = (): void => undefined;
  const options = { ...settings, store, unsentBytes: 262_144, observe: nothing };
  const watcher = createSessionWatcher({ ...options, onFailure: nothing });
  onTestFinished(() => watcher.close());
  const streams = createEventStreams({ ...options, watcher, onFailure: nothing });
  const open = (turn: Promise<void>) => {
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    const pages: StreamAnswer["pages"] = {
      read: (read) => turn.then(read),
      readValue: (read) => turn.then(read),
      turn: () => turn.then(() => nothing),
      progress: nothing,
      taken: nothing,
    };
    const answer = { response, headers: {}, id: "request", begin: nothing, pages };
    return { response, over: streams.serve({ ...answer, after: null }) };
  };
  const turn = Promise.withResolvers<void>();
  const first = open(turn.promise);
  await expect(open(Promise.resolve()).over).rejects.toThrow("It is away.");

  state.isAway = false;
  const later = open(Promise.resolve());

  let isOver = false;
  later.over.finally(() => (isOver = true)).catch(nothing);
  await until(() => later.response.headersSent || isOver);
  expect(later.response.headersSent).toBe(true);
  turn.resolve();
  await expect(first.over).rejects.toThrow("It is away.");
  await streams.close();
  await later.over;
});
