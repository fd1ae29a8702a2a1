import { describe, expect, it } from "vitest";

import { deleteSessionTree } from "../../src/store/records/sessions/delete-tree.ts";
import { endSession } from "../../src/store/records/sessions/change.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";

/** Reads a stream as programs without an EventSource do, to its end or to an error. */
async function readToEnd(
  t: TestServer,
  id: string,
): Promise<{ begun: Promise<void>; ended: Promise<"whole" | "error"> }> {
  const answer = await fetch(`${t.url}/api/sessions/${id}/stream`);
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  const read = async (): Promise<"whole" | "error"> => {
    try {
      for await (const _ of answer.body ?? []) {
        resolve();
      }
      return "whole";
    } catch {
      return "error";
    }
  };
  return { begun, ended: read() };
}

describe("the end of a stream", () => {
  it("[HTTP-78] is clean when the session ends or is deleted", async () => {
    await using t = await startTestServer();
    const ways = [
      (id: string): Promise<unknown> => t.store.write(endSession, { id }),
      (id: string): Promise<unknown> => t.store.write(deleteSessionTree, { id }),
    ];
    for (const over of ways) {
      const id = await t.newSession();
      await t.post(id, "x");
      const { begun, ended } = await readToEnd(t, id);
      await begun;
      await over(id);
      expect(await ended).toBe("whole");
    }
  });

  it("[HTTP-78] is an error for its reader when the service stops", async () => {
    await using t = await startTestServer();
    const id = await t.newSession();
    await t.post(id, "x");
    const readers = await Promise.all([readToEnd(t, id), readToEnd(t, id)]);
    await Promise.all(readers.map(({ begun }) => begun));
    await t.server.close();
    expect(await Promise.all(readers.map(({ ended }) => ended))).toEqual(["error", "error"]);
  });
});
