import { MAX_NAME_LENGTH } from "../../../core/limits.ts";
import { quote } from "../../../core/text/terminal-text.ts";
import { plural } from "../../../core/text/text.ts";
import {
  entriesOf,
  entryKey,
  type PickedSession,
  type PickerEntry,
  SORTS,
  titleOf,
} from "./picked-sessions.ts";
import { type Chosen, DEFAULT_FILTERS, FILTER_ROWS, next, stepped } from "./picker-filters.ts";
import { createPickerHits } from "./picker-hits.ts";
import { isLeaving, moveOf } from "./picker-keys.ts";
import { createPickerReader } from "./picker-reader.ts";
import { type PickerMode, pickerRows } from "./picker-rows.ts";
import type { SessionSource } from "./picker-source.ts";
import { decodePrintableKey, type KeyId, matchesKey } from "../pi/keys.ts";
import type { FullView } from "../screen/screen.ts";
import type { Theme } from "../text/theme.ts";
import { pasted, typed } from "../screen/typed-text.ts";

export interface PickerOptions {
  readonly theme: Theme;
  readonly source: SessionSource;
  readonly now: () => number;
  /** With the id that was chosen, or null. */
  readonly on: { changed(): void; done(id: string | null): void };
}

const MAX_QUERY = 200;
/** Sessions that are read beyond those that the screen shows. */
const READ_AHEAD = 100;

/**
 * Chooses a session: what is typed searches titles, then messages; the keys in the last rows act on the selected one. Sessions are read
 * while they are needed: all of them for a search, another order or a filter by model.
 */
export function createPicker({ theme, source, now, on }: PickerOptions): FullView {
  let chosen: Chosen = { filters: DEFAULT_FILTERS, sort: "last used", model: null };
  let entries: readonly PickerEntry[] = [];
  let selected = 0;
  /** Whether a key chose the selected row; else it is the first one. */
  let isMoved = false;
  let query = "";
  let mode: PickerMode = { kind: "list" };
  /** A question is answered only by a key that comes after it was drawn. */
  let isDrawn = false;
  let notice = "";
  let height = 24;
  /** The session that is selected on the screen; sessions that came since do not change what a key means. */
  let drawn: string | undefined;

  const current = (): PickedSession | undefined => entries[selected]?.session;
  const hits = createPickerHits(source, {
    arrived: () => {
      arrange();
      on.changed();
    },
    failed: (error) => show(error),
  });
  const reader = createPickerReader(source, {
    needsMore: () =>
      query.trim() !== "" ||
      chosen.sort !== "last used" ||
      chosen.model !== null ||
      reader.known.size < selected + height + READ_AHEAD,
    arrived: () => {
      arrange();
      on.changed();
    },
    previewed: () => on.changed(),
    failed: (error) => show(error),
  });
  const { known } = reader;
  /** Arranges the rows again; the one that a key chose stays selected, if it is still there. */
  const arrange = (): void => {
    const [before] = isMoved ? entries.slice(selected, selected + 1) : [];
    entries = entriesOf(known, hits.found(), { query, ...chosen });
    const key = before === undefined ? null : entryKey(before);
    const index = key === null ? -1 : entries.findIndex((entry) => entryKey(entry) === key);
    selected = index === -1 ? Math.max(0, Math.min(selected, entries.length - 1)) : index;
    void reader.readPreview(() => current()?.id);
  };
  /** Arranges the sessions again, with the first one selected. */
  const rearrange = (): void => {
    isMoved = false;
    selected = 0;
    drawn = undefined;
    arrange();
    void reader.read();
  };
  const moveBy = (rows: number): void => {
    isMoved = true;
    drawn = undefined;
    selected = Math.max(0, Math.min(selected + rows, entries.length - 1));
    void reader.readPreview(() => current()?.id);
    void reader.read();
  };
  const show = (error: unknown): void => {
    notice = error instanceof Error ? error.message : String(error);
    mode = { kind: "list" };
    on.changed();
  };
  const ask = (question: PickerMode): void => {
    mode = question;
    isDrawn = false;
  };
  /** Keys wait for what is stored. */
  const during = async (text: string, work: () => Promise<void>): Promise<void> => {
    ask({ kind: "busy", text });
    try {
      await work();
      if (mode.kind === "busy") {
        mode = { kind: "list" };
      }
    } catch (error) {
      show(error);
    }
    on.changed();
  };
  const update = (id: string, change: Partial<PickedSession>): void => {
    const session = known.get(id);
    if (session !== undefined) {
      known.set(id, { ...session, ...change });
      arrange();
    }
  };

  const rename = (id: string, text: string): void => {
    const name = text.trim() === "" ? null : text.trim();
    void during("Storing the name…", async () => {
      await source.rename(id, name);
      update(id, { name });
    });
  };
  const archive = ({ id, archived }: PickedSession): void => {
    void during("Storing…", async () => {
      await source.archive(id, !archived);
      notice = archived ? "Taken out of the archive." : "Archived. Ctrl-F shows archived sessions.";
      if (chosen.filters.archived === "any") {
        update(id, { archived: !archived });
      } else {
        known.delete(id);
        arrange();
      }
    });
  };
  const pin = ({ id, pinned }: PickedSession): void => {
    void during("Storing…", async () => {
      known.set(id, await source.pin(id, !pinned));
      notice = pinned ? "Not pinned any more." : "Pinned: it is first, and prune keeps it.";
      arrange();
    });
  };
  const fork = ({ id }: PickedSession): void => {
    void during("Forking…", async () => {
      const { session, left } = await source.fork(id);
      known.set(session.id, session);
      arrange();
      const index = entries.findIndex(({ session: each }) => each.id === session.id);
      selected = index === -1 ? selected : index;
      drawn = undefined;
      const rest = left === 0 ? "" : ` It leaves ${plural(left, "message")} out.`;
      notice = `${session.id.slice(0, 8)} is a fork of ${id.slice(0, 8)} after message ${session.origin?.seq ?? 0}. Enter opens it.${rest}`;
    });
  };
  const askToDelete = (session: PickedSession): void => {
    void during("Reading what is deleted…", async () => {
      const lines = await source.previewDeletion(session.id);
      const question = `Delete ${quote(titleOf(session))} for good?`;
      ask({ kind: "delete", id: session.id, lines: [theme.warning(question), ...lines] });
    });
  };
  const remove = (id: string): void => {
    void during("Deleting…", async () => {
      const { ids, note } = await source.delete(id);
      ids.forEach((each) => known.delete(each));
      notice = note ?? "Deleted.";
      arrange();
    });
  };
  const choose = (session: PickedSession | undefined): void => {
    if (session === undefined) {
      return;
    }
    const refusal = source.refusal(session);
    if (refusal === null) {
      leave(session.id);
    } else {
      notice = refusal;
    }
  };
  const enter = (session: PickedSession | undefined): void => {
    if (drawn !== undefined || isMoved) {
      choose(session);
    } else if (query.trim() !== "") {
      // reads again: a key may come before the result of the search is read
      void during("Searching…", async () => {
        await reader.read();
        const [first] = entries.slice(selected, selected + 1);
        // nobody has seen what was found in messages
        choose(first?.hit === null ? first.session : undefined);
      });
    }
  };
  const leave = (id: string | null): void => {
    reader.close();
    hits.close();
    on.done(id);
  };

  /** Actions of keys on the selected session. */
  const ACTIONS: readonly (readonly [KeyId, (session: PickedSession) => void])[] = [
    ["ctrl+r", ({ id, name }) => ask({ kind: "name", id, text: name ?? "" })],
    ["ctrl+a", archive],
    ["ctrl+t", pin],
    ["ctrl+b", fork],
    ["ctrl+d", askToDelete],
    ["delete", askToDelete],
  ];
  const inList = (key: string): void => {
    notice = "";
    const session = known.get(drawn ?? "") ?? current();
    const move = moveOf(key, Math.max(1, Math.floor(height / 2) - 1));
    const action = ACTIONS.find(([id]) => matchesKey(key, id));
    if (move !== null) {
      moveBy(move);
    } else if (action !== undefined) {
      const [, act] = action;
      if (session !== undefined) {
        isMoved = true;
        act(session);
      }
    } else if (matchesKey(key, "enter")) {
      enter(session);
    } else if (matchesKey(key, "ctrl+s")) {
      chosen = { ...chosen, sort: next(SORTS, chosen.sort) };
      rearrange();
    } else if (matchesKey(key, "ctrl+f") || matchesKey(key, "tab")) {
      ask({ kind: "filter", row: 0 });
    } else if (isLeaving(key)) {
      leave(null);
    } else {
      searchFor(typed(query, key, MAX_QUERY) ?? query);
    }
  };
  const searchMessages = (): void => {
    hits.search(query, chosen.filters.archived !== "not archived");
  };
  const searchFor = (text: string): void => {
    if (text !== query) {
      query = text;
      searchMessages();
      rearrange();
    }
  };
  const inName = (key: string, { id, text }: { id: string; text: string }): void => {
    if (isLeaving(key)) {
      mode = { kind: "list" };
    } else if (matchesKey(key, "enter")) {
      rename(id, text);
    } else {
      mode = { kind: "name", id, text: typed(text, key, MAX_NAME_LENGTH) ?? text };
    }
  };
  const inFilter = (key: string, row: number): void => {
    if (isLeaving(key) || matchesKey(key, "enter") || matchesKey(key, "ctrl+f")) {
      mode = { kind: "list" };
    } else if (matchesKey(key, "up") || matchesKey(key, "down")) {
      const step = matchesKey(key, "up") ? -1 : 1;
      mode = { kind: "filter", row: (row + step + FILTER_ROWS) % FILTER_ROWS };
    } else if (matchesKey(key, "left") || matchesKey(key, "right") || matchesKey(key, "space")) {
      const { filters } = chosen;
      const models = [...new Set([...known.values()].map(({ model }) => model))].sort();
      chosen = stepped(chosen, row, { step: matchesKey(key, "left") ? -1 : 1, models });
      if (chosen.filters !== filters) {
        reader.open(chosen.filters);
        searchMessages();
      }
      rearrange();
    }
  };
  const inDeletion = (key: string, id: string): void => {
    if (!isDrawn) {
      return;
    }
    const letter = (decodePrintableKey(key) ?? key).toLowerCase();
    if (letter === "y") {
      remove(id);
    } else if (isLeaving(key) || letter === "n") {
      mode = { kind: "list" };
      notice = "Nothing was deleted.";
    }
  };

  reader.open(chosen.filters);
  void reader.read();
  return {
    rows: (width, rows) => {
      height = rows;
      isDrawn = true;
      drawn = current()?.id;
      const of = { more: reader.more(), preview: reader.preview(current()?.id), now: now() };
      const isSearching = hits.isSearching();
      const state = { ...chosen, ...of, entries, isSearching, selected, query, mode, notice };
      return pickerRows(state, { width, height }, theme);
    },
    key: (key) => {
      switch (mode.kind) {
        case "list":
          inList(key);
          break;
        case "name":
          inName(key, mode);
          break;
        case "filter":
          inFilter(key, mode.row);
          break;
        case "delete":
          inDeletion(key, mode.id);
          break;
        case "busy":
          // writes end by themselves; a store that does not answer must not hold a person
          if (matchesKey(key, "ctrl+c")) {
            leave(null);
          }
          break;
      }
    },
    paste: (text) => {
      if (mode.kind === "name") {
        mode = { ...mode, text: pasted(mode.text, text, MAX_NAME_LENGTH) };
      } else if (mode.kind === "list") {
        searchFor(pasted(query, text, MAX_QUERY));
      }
    },
  };
}
