import { expect, it } from "vitest";

import { TakenSessions } from "../../../src/agent/taken-sessions.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { hookedExchange } from "../../helpers/hooked-exchange.ts";

it("[HOOK-26] a session is taken up by its first message in a process, a fresh context and a summary", async () => {
  const { store, repo } = await hookedExchange({});
  const session = await store.write(createSession, { repo_path: repo });
  const taken = new TakenSessions();
  const next = (thread_suffix: number, hasBegun: boolean, summary: string | null = null) => {
    const { source, keep } = taken.source({ ...session, thread_suffix }, { hasBegun, summary });
    keep();
    return source;
  };
  expect(next(0, false)).toBe("startup");
  expect(next(0, true)).toBeNull();
  expect(next(0, true, "a")).toBe("compact");
  expect(next(0, true, "a")).toBeNull();
  expect(next(1, false)).toBe("clear");
  expect(taken.leave(session.id)).toBe(true);
  expect(taken.leave(session.id)).toBe(false);
  expect(next(1, true)).toBe("resume");
  // a message that is denied takes nothing up
  taken.leave(session.id);
  taken.source(session, { hasBegun: false, summary: null });
  expect(taken.leave(session.id)).toBe(false);
});
