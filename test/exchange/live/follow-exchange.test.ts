import { expect, it } from "vitest";

import { RepriseError } from "../../../src/core/errors.ts";
import { followElsewhere } from "../../../src/exchange/live/follow-exchange.ts";
import { takeLease } from "../../../src/store/records/leases/lease.ts";
import { thisProcess } from "../../../src/store/records/leases/this-process.ts";
import { beginExchange } from "../../../src/store/records/messages/begin-exchange.ts";
import type { Store } from "../../../src/store/store.ts";
import { describeEngine, newSession, openFresh } from "../../helpers/engines.ts";

describeEngine("an exchange of another process", (engine) => {
  it("[CLI-306] is followed no longer than its database can be read", async () => {
    const store = await openFresh(engine);
    const { id: session_id } = await newSession(store);
    const owner = thisProcess("a test");
    const { epoch } = await store.write(takeLease, { session_id, owner, life_ms: 3_600_000 });
    const fence = { session_id, epoch };
    await store.write(beginExchange, { fence, content: "hi", model: "demo", persona_name: null });
    let isAway = false;
    const orAway = <Output>(work: () => Promise<Output>): Promise<Output> =>
      isAway ? Promise.reject(new RepriseError("database_unavailable", "It is away.")) : work();
    const read: Store["read"] = (operation, input) => orAway(() => store.read(operation, input));
    const mayHaveChanged = (): Promise<boolean> => orAway(store.mayHaveChanged);

    const seen: string[] = [];
    const follow = async (): Promise<void> => {
      const followed = { session_id, n: 1 };
      for await (const { event } of followElsewhere({ ...store, read, mayHaveChanged }, followed)) {
        seen.push(event);
        isAway = event === "message";
      }
    };
    await expect(follow()).rejects.toMatchObject({ code: "database_unavailable" });
    expect(seen).toEqual(["begun", "snapshot", "message"]);
  });
});
