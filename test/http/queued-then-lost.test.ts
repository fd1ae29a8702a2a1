import { expect, it } from "vitest";

import { RepriseError } from "../../src/core/errors.ts";
import type { Store } from "../../src/store/store.ts";
import { describeEngine, openFresh } from "../helpers/engines.ts";
import { statesOf } from "../helpers/queue.ts";
import { startTestServer } from "../helpers/server.ts";

describeEngine("a database that goes away after a commit", (engine) => {
  it("[HTTP-235] a message that is stored is answered 202", async () => {
    const store = await openFresh(engine);
    let isAway = false;
    const lost: Store = {
      ...store,
      write: async (operation, input) => {
        const output = await store.write(operation, input);
        isAway = true;
        return output;
      },
      read: (operation, input) =>
        isAway
          ? Promise.reject(new RepriseError("database_unavailable", "away"))
          : store.read(operation, input),
    };
    await using kept = await startTestServer({ store, token: "the-token" });
    const id = await kept.newSession();
    await using t = await startTestServer({ store: lost, token: "the-token" });
    const headers = { authorization: "Bearer the-token" };

    const path = `/api/sessions/${id}/exchanges`;
    expect(await t.call("POST", path, { headers, body: { content: "once" } })).toMatchObject({
      status: 202,
      json: { state: "queued", runnable: false, open_question: null },
    });

    expect(await statesOf(store, id)).toEqual(["queued"]);
  });
});
