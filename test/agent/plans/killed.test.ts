import { expect, it } from "vitest";

import { readDetail } from "../../../src/store/records/messages/read.ts";
import { readRun } from "../../../src/store/records/plans/read-runs.ts";
import { listSessions } from "../../../src/store/records/sessions/list.ts";
import type { Store } from "../../../src/store/store.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { describeEngine } from "../../helpers/engines.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import { DIAMOND, phaseIn, storeRun } from "../../helpers/plan-bench.ts";
import { testSize } from "../../helpers/size.ts";
import { startProgram } from "../../helpers/start-program.ts";

const MOMENTS = ["within", "before", "after"] as const;

/** Lets a process continue a run until it ends, or kills itself at a write. Returns how it ended; null if it was killed. */
async function live(
  location: string,
  env: Readonly<Record<string, string>>,
  order: object,
): Promise<string | null> {
  const running = startProgram("exchange-lives.ts", [location, "{}"], {
    env: { ...env, REPRISE_MODEL: "openai:gpt-test" },
  });
  await running.waitFor(/^ready$/m);
  running.child.stdin?.end(`${JSON.stringify({ text: null, asks: false, ...order })}\n`);
  const { signal, stdout, stderr } = await running.finished;
  expect(stderr).toBe("");
  return signal === "SIGKILL" ? null : (/\bended (\w+)/m.exec(stdout)?.[1] ?? "");
}

/** Each phase was begun once, after those that it depends on, and each message of it was sent once. */
async function expectWhole(store: Store, id: string): Promise<void> {
  const { phases, exchange } = await store.read(readRun, { reference: id });
  expect(exchange?.state).toBe("done");
  const byKey = new Map(phases.map((row) => [row.key, row]));
  for (const { key, depends_on = [] } of DIAMOND) {
    const { state, begun_at } = byKey.get(key)!;
    expect(state).toBe("done");
    for (const each of depends_on) {
      expect(begun_at! >= byKey.get(each)!.ended_at!).toBe(true);
    }
  }
  const page = await store.read(listSessions, { limit: 10, parent_session_id: id });
  expect(page.sessions).toHaveLength(DIAMOND.length);
  for (const child of page.sessions) {
    const { messages } = await store.read(readDetail, { reference: child.id, all: true });
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect((await verifySession(store, child.id)).findings).toEqual([]);
  }
  expect((await verifySession(store, id)).findings).toEqual([]);
}

describeEngine("a run whose processes are killed", (engine) => {
  it.for(MOMENTS.slice(0, testSize("plan-deaths")))(
    "[PLANRUN-8] begins no phase twice and loses none, whichever write is the last %s which a process dies",
    async (when) => {
      const server = await startModelServer({
        answer: (messages) => ({ content: `what ${phaseIn(messages)} has left` }),
      });
      const database = await engine.create();
      const store = await database.open();
      const { id } = await storeRun({ store, phases: DIAMOND });
      let killed = 0;
      let ended: string | null = null;
      while (ended === null) {
        const dies = { at: killed + 1, when };
        ended = await live(database.location, server.env("openai"), { session_id: id, dies });
        killed += ended === null ? 1 : 0;
      }
      expect(ended).toBe("done");
      expect(killed).toBeGreaterThan(4);
      await expectWhole(store, id);
    },
  );
});
