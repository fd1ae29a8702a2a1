import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { ListOptions, SessionEvent, SessionSummary } from "../../src/entries/client.ts";
import { type Filters, filtersOf, listQueryOf, stateOf } from "../../web/list/filters.ts";
import { compare, mergePage, positionOf, rowsOf } from "../../web/list/rows.ts";
import { createListSource } from "../../web/list/source.ts";

const NO_FILTERS: Filters = filtersOf(new URLSearchParams());

function session(id: string, more: Partial<SessionSummary> = {}): SessionSummary {
  return {
    id,
    state: "active",
    activity: "idle",
    title: id,
    persona_name: null,
    model: null,
    agent: null,
    repo_path: null,
    project_key: null,
    project_id: null,
    plan_mode: false,
    effort: null,
    cache: null,
    fallback: null,
    parent_session_id: null,
    forked_from: null,
    depth: 0,
    total_input_tokens: 0,
    total_output_tokens: 0,
    last_seq: 1,
    created_at: "2026-01-01T00:00:00.000Z",
    last_message_at: null,
    ended_at: null,
    exchange: null,
    name: null,
    archived_at: null,
    pinned_at: null,
    metadata: {},
    permission: null,
    ...more,
  };
}

const at = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
const idsOf = (source: ReturnType<typeof createListSource>): string[] =>
  source.rows.value.map((row) => row.session.id);

describe("the filters of the list", () => {
  it("[PAGE-52] are read from the address, and the rest of the query is ignored", () => {
    const read = (query: string): Filters => filtersOf(new URLSearchParams(query));
    expect(read("title=%20rent%20&state=waiting&folder=/a%20b&model=m&archived=only&x=1")).toEqual({
      title: "rent",
      state: "waiting",
      folder: "/a b",
      model: "m",
      archived: "only",
    });
    expect(read("title=&state=constructor&folder=relative&archived=yes")).toEqual(NO_FILTERS);
  });

  it("[PAGE-52] are asked of the service as far as it knows them", () => {
    const asked = (query: string): ListOptions =>
      listQueryOf(filtersOf(new URLSearchParams(query)));
    expect(asked("")).toEqual({ archived: false });
    expect(asked("archived=all&title=a")).toEqual({ title: "a" });
    expect(asked("archived=only&folder=/a&state=running")).toEqual({
      archived: true,
      repo_path: "/a",
      activity: "running",
    });
    expect(asked("state=ended")).toEqual({ archived: false, state: "ended" });
    expect(asked("state=waiting&model=m")).toEqual({ archived: false });
  });

  it("[PAGE-50] a session shows what it does now", () => {
    expect(stateOf(session("a", { state: "ended" }))).toBe("ended");
    expect(stateOf(session("a", { activity: "running" }))).toBe("running");
    expect(stateOf(session("a", { exchange: { n: 1, state: "waiting" } }))).toBe("waiting");
    expect(stateOf(session("a", { exchange: { n: 1, state: "done" } }))).toBe("idle");
  });
});

describe("the rows of the list", () => {
  it("[PAGE-51] put sub-agents below the session that they work for, once it is opened", () => {
    const sessions = [
      session("parent", { last_message_at: at(1) }),
      session("child", { parent_session_id: "parent", last_message_at: at(3) }),
      session("grandchild", { parent_session_id: "child", last_message_at: at(2) }),
      session("other", { last_message_at: at(2) }),
      session("of another", { parent_session_id: "not listed", last_message_at: at(0) }),
    ];
    const shown = (...open: string[]) =>
      rowsOf(sessions, new Set(open)).map(
        ({ session: { id }, level, children }) => `${level} ${id} ${children}`,
      );
    expect(shown()).toEqual(["1 other 0", "1 parent 2", "1 of another 0"]);
    expect(shown("parent")).toEqual(["1 other 0", "1 parent 2", "2 child 1", "1 of another 0"]);
    expect(shown("parent", "child")).toContain("3 grandchild 0");
  });

  it("[PAGE-180] [PAGE-51] put pinned sessions first, sub-agents included", () => {
    const sessions = [
      session("parent", { last_message_at: at(3) }),
      session("child", { parent_session_id: "parent", last_message_at: at(2), pinned_at: at(4) }),
      session("old", { last_message_at: at(1), pinned_at: at(9) }),
    ];
    const shown = rowsOf(sessions, new Set(["parent"]));
    expect(shown.map(({ session: { id }, level }) => `${level} ${id}`)).toEqual([
      "1 child",
      "1 old",
      "1 parent",
    ]);
  });

  it("[PAGE-53] a page that is read replaces what was known of its part of the list", () => {
    const known = ["a", "b", "c", "d"].map((id, index) =>
      session(id, { last_message_at: at(9 - index) }),
    );
    const merged = mergePage(
      new Map(known.map((each) => [each.id, each])),
      [session("b2", { last_message_at: at(8) }), session("aa", { last_message_at: at(7) })],
      { after: positionOf(known[0] ?? session("none")), isLast: false, pinned: null },
    );
    expect([...merged.keys()].sort()).toEqual(["a", "aa", "b2", "d"]);
    expect(mergePage(merged, [], { after: null, isLast: true, pinned: [] }).size).toBe(0);
  });
});

/** A service with a list and its changes, whose answers come when the test says so. */
function fakeService(pageSize: number) {
  const stored = new Map<string, SessionSummary>();
  let listener: (event: SessionEvent) => void = () => undefined;
  let clock = 0;
  const byTime = (): SessionSummary[] =>
    [...stored.values()].sort((a, b) => compare(positionOf(a), positionOf(b)));
  const sorted = (): SessionSummary[] => {
    const groups = Object.groupBy(byTime(), ({ pinned_at }) => (pinned_at === null ? "no" : "yes"));
    return [...(groups.yes ?? []), ...(groups.no ?? [])];
  };
  const answers: (() => void)[] = [];
  const touch = (id: string): SessionSummary => {
    clock += 1;
    const changed = { ...(stored.get(id) ?? session(id)), last_message_at: at(clock) };
    stored.set(id, changed);
    return changed;
  };
  const pin = (id: string): SessionSummary => {
    const known = stored.get(id) ?? touch(id);
    const changed = { ...known, pinned_at: known.pinned_at === null ? at(0) : null };
    stored.set(id, changed);
    return changed;
  };
  return {
    stored,
    sorted,
    answers,
    touch,
    pin,
    tell: (event: SessionEvent) => listener(event),
    follow: (given: (event: SessionEvent) => void) => {
      listener = given;
      return () => undefined;
    },
    client: {
      listSessions: ({ cursor, pinned }: ListOptions = {}) => {
        const all = byTime().filter(({ pinned_at }) => pinned !== true || pinned_at !== null);
        const from = cursor === undefined ? null : session("x", JSON.parse(cursor));
        const rest =
          from === null
            ? all
            : all.filter((each) => compare(positionOf(each), positionOf(from)) > 0);
        const sessions = rest.slice(0, pageSize);
        const last = sessions.at(-1);
        const next =
          rest.length > pageSize && last !== undefined
            ? JSON.stringify({ id: last.id, last_message_at: last.last_message_at })
            : null;
        const { promise, resolve } = Promise.withResolvers<{
          sessions: SessionSummary[];
          next: string | null;
        }>();
        answers.push(() => resolve({ sessions, next }));
        return promise;
      },
    },
  };
}

const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

describe("the source of the list", () => {
  it("[PAGE-53] [PAGE-180] has what the service has, whatever changes while pages are read", async () => {
    const ids = ["a", "b", "c", "d", "e", "f", "g"];
    const step = fc.oneof(
      fc.record({ do: fc.constant("touch" as const), id: fc.constantFrom(...ids) }),
      fc.record({ do: fc.constant("delete" as const), id: fc.constantFrom(...ids) }),
      fc.record({ do: fc.constant("pin" as const), id: fc.constantFrom(...ids) }),
      fc.record({ do: fc.constantFrom("answer", "more", "reset", "poll") }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const service = fakeService(2);
        ids.forEach((id) => service.touch(id));
        const source = createListSource({ ...service, filters: NO_FILTERS, pauseMs: 0 });
        source.start();
        service.tell({ id: "1", event: "reset", data: {} });
        for (const each of steps) {
          if ("id" in each && each.do === "touch") {
            service.tell({ id: "2", event: "changed", data: service.touch(each.id) });
          } else if ("id" in each && each.do === "pin") {
            service.tell({ id: "5", event: "changed", data: service.pin(each.id) });
          } else if ("id" in each) {
            service.stored.delete(each.id);
            service.tell({ id: "3", event: "deleted", data: { id: each.id } });
          } else if (each.do === "answer") {
            service.answers.shift()?.();
          } else if (each.do === "more") {
            void source.readMore();
          } else {
            service.tell({ id: each.do === "poll" ? "" : "4", event: "reset", data: {} });
          }
          await tick();
        }
        // until all is read, and nothing is read any more
        for (let isDone = false; !isDone;) {
          await tick();
          const answer = service.answers.shift();
          answer?.();
          if (answer === undefined && !source.isReading.value) {
            isDone = source.isComplete.value;
            void source.readMore();
          }
        }
        await tick();
        expect(idsOf(source)).toEqual(service.sorted().map(({ id }) => id));
      }),
      { numRuns: 60 },
    );
  });

  it("[PAGE-180] shows pinned sessions of pages that were not read, until they are not pinned", async () => {
    const service = fakeService(1);
    ["old", "older pin", "pin", "b", "a"].forEach((id) => service.touch(id));
    ["older pin", "pin"].forEach(service.pin);
    const source = createListSource({ ...service, filters: NO_FILTERS, pauseMs: 0 });
    source.start();
    while (source.isReading.value) {
      service.answers.shift()?.();
      await tick();
    }
    expect(idsOf(source)).toEqual(["pin", "older pin", "a"]);
    service.tell({ id: "1", event: "changed", data: service.pin("old") });
    service.tell({ id: "2", event: "changed", data: service.pin("pin") });
    await tick();
    await tick();
    expect(idsOf(source)).toEqual(["older pin", "old", "a", "pin"]);
  });

  it("[PAGE-53] says what failed, keeps what it has, and reads again when it is asked to", async () => {
    const service = fakeService(5);
    service.touch("a");
    let isAway = false;
    const source = createListSource({
      ...service,
      client: {
        listSessions: (query) =>
          isAway
            ? Promise.reject(new Error("The database is away."))
            : service.client.listSessions(query),
      },
      filters: NO_FILTERS,
      pauseMs: 0,
    });
    source.start();
    service.answers.splice(0).forEach((answer) => answer());
    await tick();
    expect(idsOf(source)).toEqual(["a"]);
    isAway = true;
    await source.retry();
    expect([source.problem.value, idsOf(source)]).toEqual(["The database is away.", ["a"]]);
    isAway = false;
    const again = source.retry();
    service.answers.splice(0).forEach((answer) => answer());
    await again;
    expect(source.problem.value).toBeNull();
  });

  it("[PAGE-52] a change takes a session into the list, or out of it", async () => {
    const service = fakeService(5);
    service.touch("rent");
    const source = createListSource({
      ...service,
      filters: filtersOf(new URLSearchParams("title=RE&state=idle")),
      pauseMs: 0,
    });
    source.start();
    service.answers.splice(0).forEach((answer) => answer());
    await tick();
    expect(idsOf(source)).toEqual(["rent"]);
    const change = async (data: SessionSummary): Promise<string[]> => {
      service.tell({ id: "1", event: "changed", data });
      await tick();
      await tick();
      return idsOf(source);
    };
    expect(await change(session("x", { title: "Release", last_message_at: at(50) }))).toEqual([
      "x",
      "rent",
    ]);
    expect(await change(session("y", { title: "other", last_message_at: at(51) }))).not.toContain(
      "y",
    );
    expect(await change(session("x", { title: "Release", activity: "running" }))).toEqual(["rent"]);
    expect(await change(session("rent", { archived_at: at(2) }))).toEqual([]);
  });
});
