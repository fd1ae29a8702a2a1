import { expect, it } from "vitest";

import { releaseLease, takeLease } from "../../../../src/store/records/leases/lease.ts";
import { listSessions } from "../../../../src/store/records/sessions/list.ts";
import { openChild } from "../../../../src/store/records/sessions/open-child.ts";
import { describeEngines, newSession, openFresh, owner } from "../../../helpers/engines.ts";

const delegated = { parent_call_id: "call_1", persona_name: "reviewer", model: "demo" };

describeEngines("openChild", (engine) => {
  it("begins one session for one call, however often the call is run", async () => {
    const store = await openFresh(engine);
    const parent = await newSession(store, { repo_path: "/repo", project_key: "0123456789abcdef" });
    const fence = await store.write(takeLease, { session_id: parent.id, owner, life_ms: 60_000 });

    const child = await store.write(openChild, { fence, ...delegated });
    const again = await store.write(openChild, { fence, ...delegated });
    const another = await store.write(openChild, { fence, ...delegated, parent_call_id: "call_2" });

    expect(child).toMatchObject({
      parent_session_id: parent.id,
      depth: 1,
      repo_path: "/repo",
      project_key: "0123456789abcdef",
      persona_name: "reviewer",
      model: "demo",
    });
    expect(again).toEqual(child);
    expect(another.id).not.toBe(child.id);
  });

  it("[STORE-8] [STORE-15] begins none below depth 3, and none without the lease", async () => {
    const store = await openFresh(engine);
    const deepest = await newSession(store, { depth: 3 });
    const fence = await store.write(takeLease, { session_id: deepest.id, owner, life_ms: 60_000 });

    await expect(store.write(openChild, { fence, ...delegated })).rejects.toMatchObject({
      code: "depth_exceeded",
    });
    await store.write(releaseLease, { fence, finished: true });
    await expect(store.write(openChild, { fence, ...delegated })).rejects.toMatchObject({
      code: "lease_lost",
    });
    expect((await store.read(listSessions, { limit: 10 })).sessions).toHaveLength(1);
  });
});
