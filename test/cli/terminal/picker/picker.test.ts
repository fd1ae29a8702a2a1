import { describe, expect, it, onTestFinished, vi } from "vitest";

import type {
  PickedHit,
  PickedSession,
} from "../../../../src/cli/terminal/picker/picked-sessions.ts";
import { createPicker } from "../../../../src/cli/terminal/picker/picker.ts";
import type { PickerFilters } from "../../../../src/cli/terminal/picker/picker-filters.ts";
import type {
  HitSearch,
  SessionSource,
} from "../../../../src/cli/terminal/picker/picker-source.ts";
import { visibleWidth } from "../../../../src/cli/terminal/pi/text.ts";
import { createTheme } from "../../../../src/cli/terminal/text/themes.ts";
import { oneLine } from "../../../../src/core/text/terminal-text.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");
const HOUR = 3_600_000;
const [UP, DOWN, RIGHT, END, ENTER, ESC] = [
  "\u001b[A",
  "\u001b[B",
  "\u001b[C",
  "\u001b[F",
  "\r",
  "\u001b",
];
const ctrl = (letter: string): string => String.fromCharCode(letter.charCodeAt(0) - 96);

const eventually = (check: () => void): Promise<void> =>
  vi.waitFor(check, { timeout: 240_000, interval: 2 });

describe("the picker", () => {
  it("[TERM-50] lists the sessions of this folder first, and Enter chooses the selected one", async () => {
    const { picker, screen, press, done } = await opened([
      session(1, { place: "elsewhere", title: "elsewhere, latest" }),
      session(4, { place: "repository", title: "another checkout" }),
      session(2, { title: "here, the later one" }),
      session(3, { title: "here, the older one" }),
    ]);
    expect(screen()).toMatch(
      /Resume a session +last used, 1 of 4\nSearch: _\nThis folder\n> here, the later one .*\n {2}here, the older one .*\nOther folders of this repository\n {2}another checkout .*\nOther folders\n {2}elsewhere, latest .*~\/other/,
    );
    press(DOWN, DOWN, DOWN, UP);
    picker.rows(80, 24);
    press(ENTER);
    expect(done).toEqual([session(4).id]);
  });

  it("[TERM-50] Esc and Ctrl-C leave without a session, also while something is stored", async () => {
    for (const key of [ESC, ctrl("c"), "\u001b[27u", "\u001b[99;5u"]) {
      const { press, done } = await opened([session(1)]);
      press(key);
      expect(done).toEqual([null]);
    }
    const { press, done, source } = await opened([session(1)]);
    source.archive = () => new Promise(() => undefined);
    press(ctrl("a"), ESC, ctrl("c"));
    expect(done).toEqual([null]);
  });

  it("[TERM-50] an ended session is not chosen", async () => {
    const { screen, press, done } = await opened([session(1, { state: "ended" })]);
    press(ENTER);
    expect(done).toEqual([]);
    expect(screen()).toContain("it has ended");
  });

  it("[TERM-51] finds names and titles by some of their letters, and ids by their beginning", async () => {
    const { titles, press, done, picker } = await opened([
      session(1, { title: "Fix the parser for tables" }),
      session(2, { title: "hi", name: "release notes" }),
      session(3, { title: "日本語 and 🎉", place: "elsewhere" }),
      session(4, { title: "hi", id: "ffff0000-1", place: "elsewhere" }),
    ]);
    press(...Array.from("prsr"));
    expect(titles()).toEqual(["Fix the parser for tables"]);
    press(ctrl("u"), ...Array.from("rel hi"));
    expect(titles()).toEqual(["release notes"]);
    // an emoji comes in two halves
    press(ctrl("w"), ctrl("u"), "\ud83c", "\udf89");
    expect(titles()).toEqual(["日本語 and 🎉"]);
    press("\u007f", ...Array.from("ffff0"));
    expect(titles()).toEqual(["hi"]);
    press(ctrl("u"));
    picker.paste?.("parser\nfor");
    expect(titles()).toEqual(["Fix the parser for tables"]);
    press(ENTER);
    expect(done).toEqual([session(1).id]);
  });

  it("[TERM-51] Enter in the same read as the search waits for what is found", async () => {
    const sessions = Array.from({ length: 1000 }, (_, index) => session(index));
    const { press, done } = await opened([...sessions, session(1000, { title: "needle" })]);
    press(...Array.from("needle"), ENTER);
    await eventually(() => expect(done).toEqual([session(1000).id]));
  });

  it("[TERM-51] sorts by last use, creation and tokens", async () => {
    const { titles, press, screen } = await opened([
      session(1, { title: "used", usedAt: NOW, createdAt: 1, tokens: 1 }),
      session(2, { title: "created", usedAt: 2, createdAt: 3, tokens: 2 }),
      session(3, { title: "spent", usedAt: 1, createdAt: 2, tokens: 3 }),
    ]);
    const orders = [titles()];
    for (let press_ = 0; press_ < 3; press_++) {
      press(ctrl("s"));
      orders.push(titles());
    }
    expect(orders).toEqual([
      ["used", "created", "spent"],
      ["created", "spent", "used"],
      ["spent", "created", "used"],
      ["used", "created", "spent"],
    ]);
    press(ctrl("s"));
    expect(screen()).toContain("created, 1 of 3");
  });

  it("[TERM-51] filters by state, folder, model, sub-agents and archive", async () => {
    const { screen, press, opens, titles } = await opened([
      session(1, { title: "with a", model: "a" }),
      session(2, { title: "with b", model: "b", place: "elsewhere" }),
    ]);
    press(ctrl("f"));
    expect(screen()).toMatch(
      /\n> State +not ended\n {2}Folder +any\n {2}Model +any\n {2}Sub-agents +left out\n {2}Archive +not archived\n {2}Sort +last used\n/,
    );
    press(RIGHT, DOWN, " ", DOWN, DOWN, RIGHT, DOWN, RIGHT);
    expect(opens.at(-1)).toEqual({
      state: "running",
      folder: "this folder",
      subagents: "shown",
      archived: "archived",
    });
    await eventually(() => expect(screen()).toContain("1 of 2\n"));
    press(UP, UP, RIGHT, RIGHT, ENTER);
    await eventually(() => expect(titles()).toEqual(["with b"]));
    expect(screen()).toContain("Only: running, this folder, archived, with sub-agents, b");
  });

  it("[TERM-160] lists messages that were found after the sessions, each with its excerpt", async () => {
    const sessions = [
      session(1, { title: "about rent" }),
      session(2, { title: "holidays", place: "elsewhere" }),
      session(3, { title: "other model", model: "b" }),
    ];
    const wanted: HitSearch[] = [];
    const { screen, press, done, titles } = await opened(sessions, {
      search: (given) => {
        wanted.push(given);
        return Promise.resolve([
          hit(2, "…so the \u202erent of April"),
          hit(9, "rent"),
          hit(3, "rent"),
        ]);
      },
    });
    press(...Array.from("rent"));
    await eventually(() => expect(screen()).toContain("In messages"));
    expect(wanted.map(({ query, archived }) => [query, archived])).toEqual([["rent", false]]);
    expect(titles()).toEqual(["about rent"]);
    expect(screen()).toMatch(
      /1 of 3\nSearch: rent_\nThis folder\n> about rent .*\nIn messages\n {2}holidays +…so the <U\+202E>rent of April +2 h ago\n {2}other model +rent +2 h ago\n/,
    );
    press(DOWN);
    expect(screen()).toMatch(
      /\n> holidays .*[^\0]*\n {2}…so the .*\nreprise sessions show 00000002 --at 7\n/,
    );
    press(ENTER);
    expect(done).toEqual([session(2).id]);
  });

  it("[TERM-160] takes keys while messages are searched, and only the last search counts", async () => {
    const found: ((hits: PickedHit[]) => void)[] = [];
    const signals: AbortSignal[] = [];
    const { screen, press, done } = await opened([session(2, { title: "holidays" })], {
      search: ({ signal }) => {
        signals.push(signal);
        return new Promise((resolve) => void found.push(resolve));
      },
    });
    press("x");
    await eventually(() => expect(found).toHaveLength(1));
    expect(screen()).toContain("Searching messages…");
    press("y");
    expect(signals[0]?.aborted).toBe(true);
    await eventually(() => expect(found).toHaveLength(2));
    found[0]?.([hit(2, "of the first")]);
    // nothing that was not drawn is chosen
    press(ENTER);
    found[1]?.([hit(2, "of the last")]);
    await eventually(() => expect(screen()).toContain("> holidays                of the last"));
    expect(screen()).not.toContain("of the first");
    expect(done).toEqual([]);
    press(ESC);
    expect(done).toEqual([null]);
  });

  it("[TERM-52] renames, and an empty name gives the title again", async () => {
    const { screen, press, calls, picker } = await opened([session(1, { title: "the title" })]);
    press(ctrl("r"), ...Array.from("new nam"), "\u007f");
    expect(screen()).toContain("Name: new na_");
    picker.paste?.("\u001b[31mme\n!");
    press(ENTER);
    await eventually(() => expect(screen()).toContain("> new na␛[31mme ! "));
    press(ctrl("r"), ctrl("u"), ENTER);
    await eventually(() => expect(screen()).toContain("> the title "));
    press(ctrl("r"), "x", ESC);
    expect(calls).toEqual([
      ["rename", session(1).id, "new na␛[31mme !"],
      ["rename", session(1).id, null],
    ]);
  });

  it("[TERM-52] archives and shows a refusal of the store", async () => {
    const { screen, press, calls, titles, source } = await opened([
      session(1, { title: "first" }),
      session(2, { title: "second" }),
    ]);
    press(DOWN, ctrl("a"));
    await eventually(() => expect(screen()).toContain("Archived."));
    expect(titles()).toEqual(["first"]);
    expect(calls).toEqual([["archive", session(2).id, true]]);
    source.archive = () => Promise.reject(new Error("The store refuses."));
    press(ctrl("a"));
    await eventually(() => expect(screen()).toContain("The store refuses."));
    expect(titles()).toEqual(["first"]);
  });

  it("[TERM-52] deletes only after y to a question that was on the screen", async () => {
    const { screen, press, calls, titles, picker } = await opened([
      session(1, { title: "first" }),
      session(2, { title: "second" }),
    ]);
    // typed in the same read as the key that asks
    press(ctrl("d"), "y", ENTER);
    await eventually(() => expect(screen()).toContain('Delete "first" for good?\n3 messages.'));
    press(ENTER, "x");
    picker.paste?.("y");
    expect(screen()).toContain('Delete "first" for good?');
    press("n");
    expect(screen()).toContain("Nothing was deleted.");
    expect(calls).toEqual([]);
    press(ctrl("d"));
    await eventually(() => expect(screen()).toContain("for good?"));
    press("y");
    await eventually(() => expect(titles()).toEqual(["second"]));
    expect(calls).toEqual([["delete", session(1).id]]);
  });

  it("[TERM-52] acts on the session that the screen shows as selected, whatever is read meanwhile", async () => {
    const sessions = Array.from({ length: 300 }, (_, index) =>
      session(index, { title: `work ${index}` }),
    );
    const { press, calls, screen, read } = await opened([
      ...sessions,
      session(300, { title: "w" }),
    ]);
    press("w");
    const shown = /> (\S+ \S+|w) /.exec(screen())?.[1];
    // the better match is read now, and not drawn yet
    await eventually(() => expect(read()).toBe(301));
    press(ctrl("a"));
    expect(calls).toEqual([["archive", expect.anything(), true]]);
    expect(shown).toBe("work 0");
    expect(calls[0]?.[1]).toBe(session(0).id);
  });

  it("[TERM-53] every row fits each size, with wide characters, and shows the keys", async () => {
    const { picker, press } = await opened([
      session(1, {
        title: "日本語のタイトルはとても長いので切る必要があります",
        folder: `~/${"長い/".repeat(40)}`,
      }),
      session(2, { place: "elsewhere", title: "x".repeat(300), model: "m".repeat(300), depth: 3 }),
      session(3, { place: "elsewhere", title: "👩‍👩‍👧‍👦".repeat(40), archived: true }),
    ]);
    for (const keys of [
      [],
      ["a"],
      [ctrl("u"), ctrl("r"), ...Array.from("n".repeat(300))],
      [ESC, ctrl("f")],
      [ESC, ctrl("d")],
    ]) {
      press(...keys);
      await new Promise((resolve) => setImmediate(resolve));
      for (const [width, height] of [
        [80, 24],
        [40, 15],
        [200, 60],
        [20, 6],
        [1, 1],
        [7, 3],
      ] as const) {
        const rows = picker.rows(width, height);
        expect(rows).toHaveLength(height);
        expect(Math.max(...rows.map((row) => visibleWidth(row)))).toBeLessThanOrEqual(width);
      }
    }
    press(ESC);
    for (const width of [80, 40]) {
      const text = picker.rows(width, width === 80 ? 24 : 15).join("\n");
      expect(text).toMatch(
        /Enter resume[^\0]*\^B fork[^\0]*\^T pin[^\0]*\^R rename[^\0]*\^A archive[^\0]*\^D delete[^\0]*\^F filter[^\0]*Esc leave$/,
      );
      // oxlint-disable-next-line no-control-regex -- without colours there is no sequence
      expect(text).not.toMatch(/\u001b/);
    }
  });

  it("[TERM-53] shows the facts and the last messages of the selected session, read once and one at a time", async () => {
    const { screen, press, previewed } = await opened([session(1), session(2), session(3)]);
    await eventually(() =>
      expect(screen()).toMatch(
        /idle · 5 messages · 2 sub-agents · ~\/here · demo:echo · 1\.5k tokens · 00000001\n› the question\n {2}the answer/,
      ),
    );
    press(DOWN, DOWN, UP, UP);
    await eventually(() => expect(previewed).toContain(session(1).id));
    press(DOWN, DOWN);
    await eventually(() => expect(previewed.at(-1)).toBe(session(3).id));
    press(UP, UP, DOWN, DOWN);
    expect(previewed).toEqual([...new Set(previewed)]);
  });

  it("[TERM-54] reads pages while they are needed, and all for a search", async () => {
    const sessions = Array.from({ length: 10_000 }, (_, index) =>
      session(index, { title: `work ${index}` }),
    );
    const { press, read, screen } = await opened(sessions);
    expect(screen()).toMatch(/1 of \d+\+\n/);
    expect(read()).toBeLessThan(400);
    press(END);
    await eventually(() => expect(read()).toBeGreaterThan(200));
    expect(read()).toBeLessThan(1000);
    press(...Array.from("9999"));
    await eventually(() => expect(screen()).toContain("> work 9999 "));
    expect(read()).toBe(10_000);
  });

  it("[TERM-175] [TERM-176] has pinned sessions first, marks forks, pins and forks", async () => {
    const of = { session_id: session(1).id, seq: 4 };
    const pinned = session(9, { place: "pinned", pinned: true });
    const { screen, press, calls, done } = await opened([
      pinned,
      session(1),
      session(2, { origin: of }),
    ]);
    expect(screen()).toMatch(
      /Pinned\n> session 9[^]*This folder\n {2}session 1 [^]* {2}\[fork\] session 2/,
    );
    press(DOWN, DOWN);
    await eventually(() => expect(screen()).toMatch(/idle · fork of 00000001 at 4 · 5 messages/));
    press(ctrl("t"));
    await eventually(() =>
      expect(screen()).toMatch(/Pinned\n> \[fork\] session 2 [^]*session 9 [^]*This folder/),
    );
    press(ctrl("b"));
    await eventually(() => expect(screen()).toMatch(/> \[fork\] session 99 /));
    expect(screen()).toContain("00000099 is a fork of 00000002 after message 5. Enter opens it.");
    press("\r");
    expect(done).toEqual([session(99).id]);
    expect(calls).toEqual([
      ["pin", session(2).id, true],
      ["fork", session(2).id],
    ]);
  });

  it("says that nothing matches, and that the store cannot be read", async () => {
    const { screen, press } = await opened([session(1)]);
    press(...Array.from("zzz"));
    await eventually(() =>
      expect(screen()).toContain("No session matches. Ctrl-F changes the filter."),
    );
    const broken = await opened([], {
      open: () => ({ next: () => Promise.reject(new Error("The database is gone.")) }),
    });
    expect(broken.screen()).toContain("The database is gone.");
  });
});

function hit(index: number, excerpt: string): PickedHit {
  const { id } = session(index);
  const text = oneLine(excerpt);
  return { session_id: id, seq: 7, excerpt: text, short: text, at: NOW - 2 * HOUR };
}

function session(index: number, change: Partial<PickedSession> = {}): PickedSession {
  return {
    id: `${String(index).padStart(8, "0")}-0000-4000-8000-000000000000`,
    name: null,
    title: `session ${index}`,
    folder: change.place === "elsewhere" ? "~/other" : "~/here",
    place: "here",
    state: "idle",
    model: "demo:echo",
    tokens: 1500,
    messages: 5,
    usedAt: NOW - index * HOUR,
    createdAt: NOW - 30 * 24 * HOUR,
    archived: false,
    pinned: false,
    origin: null,
    isRun: false,
    depth: 0,
    ...change,
  };
}

/** A picker whose first page has come, over sessions in memory. */
async function opened(sessions: readonly PickedSession[], change: Partial<SessionSource> = {}) {
  const opens: PickerFilters[] = [];
  const calls: unknown[][] = [];
  const previewed: string[] = [];
  const done: (string | null)[] = [];
  let read = 0;
  const source: SessionSource = {
    open: (filters) => {
      opens.push(filters);
      read = 0;
      return {
        next: () => {
          const page = sessions.slice(read, read + (read === 0 ? 50 : 200));
          read += page.length;
          return Promise.resolve({ sessions: page, more: read < sessions.length });
        },
      };
    },
    search: () => Promise.resolve([]),
    preview: (id) => {
      previewed.push(id);
      const messages = [
        { role: "user", text: "the question" },
        { role: "assistant", text: "the answer" },
      ] as const;
      return Promise.resolve({ messages, subagents: 2 });
    },
    rename: (...given) => called("rename", given),
    archive: (...given) => called("archive", given),
    pin: async (id, pinned) => {
      await called("pin", [id, pinned]);
      const found = sessions.find((each) => each.id === id) ?? session(0);
      return { ...found, pinned, place: pinned ? "pinned" : "here" };
    },
    fork: async (id) => {
      await called("fork", [id]);
      const of = { session_id: id, seq: 5 };
      return { session: session(99, { origin: of, usedAt: NOW }), left: 0 };
    },
    previewDeletion: () => Promise.resolve(["3 messages."]),
    delete: (id) => called("delete", [id]).then(() => ({ ids: [id], note: null })),
    refusal: ({ state }) => (state === "ended" ? "it has ended" : null),
    ...change,
  };
  const called = (name: string, given: unknown[]): Promise<void> => {
    calls.push([name, ...given]);
    return Promise.resolve();
  };
  const on = { changed: () => undefined, done: (id: string | null) => void done.push(id) };
  const theme = createTheme({ env: { NO_COLOR: "1" } });
  const picker = createPicker({ theme, source, now: () => NOW, on });
  onTestFinished(() => picker.key(ESC));
  const screen = (): string => picker.rows(80, 24).join("\n");
  await eventually(() => expect(screen()).not.toContain("Reading…"));
  return {
    picker,
    source,
    opens,
    calls,
    previewed,
    done,
    screen,
    read: () => read,
    press: (...keys: readonly string[]) => keys.forEach((key) => picker.key(key)),
    /** The titles that are listed. */
    titles: (): string[] =>
      screen()
        .split("\n")
        .flatMap((row) => /^[> ] (\S.*?) {2,}(?:~\/other +)?(?:idle|ended) /.exec(row)?.[1] ?? []),
  };
}
