import { DEFAULT_LIST_LIMIT, MAX_LIST_LIMIT } from "../../core/limits.ts";
import type { MessageInfo } from "../../core/schemas/schemas.ts";
import { PLAN_AGENT } from "../../core/plan-runs.ts";
import { MAX_SEARCH_RESULTS, searchWords } from "../../core/search/search.ts";
import type { Session } from "../../core/sessions.ts";
import { oneLine } from "../../core/text/terminal-text.ts";
import { isStorableText, plural } from "../../core/text/text.ts";
import { readMessagePage } from "../../store/records/messages/message-page.ts";
import { deleteSessionTree, previewDeletion } from "../../store/records/sessions/delete-tree.ts";
import {
  type ListInput,
  type ListPosition,
  listSessions,
} from "../../store/records/sessions/list.ts";
import type { ListFilters } from "../../store/records/sessions/list-filters.ts";
import { readSession, sessionNotFound } from "../../store/records/sessions/read.ts";
import { readOrigins } from "../../store/records/sessions/trees/family-tree.ts";
import { forkRequested } from "../../store/checkpoints/forks/fork-requested.ts";
import { patchSession } from "../../store/records/sessions/patch.ts";
import { countSubagents } from "../../store/records/sessions/trees/subagents.ts";
import type { SearchResult } from "../../store/records/search/find.ts";
import { searchMessages } from "../../store/search.ts";
import type { Project } from "../../store/project-id.ts";
import type { Store } from "../../store/store.ts";
import type { CliContext } from "../process/context.ts";
import { keptAfter } from "./forget-kept.ts";
import {
  type PickedHit,
  type PickedSession,
  type Place,
  PLACES,
} from "../terminal/picker/picked-sessions.ts";
import type { PickerFilters } from "../terminal/picker/picker-filters.ts";
import type {
  HitSearch,
  Preview,
  PreviewMessage,
  SessionPages,
  SessionSource,
} from "../terminal/picker/picker-source.ts";
import { isSearchOn } from "../process/search.ts";
import { wrongUsage } from "../process/wrong-usage.ts";
import { statesOf } from "../output/facts.ts";
import { answererOf, withTilde } from "../output/table.ts";
import { localPrincipal } from "../../core/principal.ts";

/** Messages of a preview, and the bytes that are read for them. */
const PREVIEW_MESSAGES = 12;
const PREVIEW_BYTES = 64 * 1024;
/** Characters of a message in a preview. */
const PREVIEW_LENGTH = 600;

export interface PickSource {
  readonly cli: CliContext;
  readonly store: Store;
  /** The working folder. */
  readonly here: Project;
  /** The user's home, which is shown as `~`. */
  readonly home: string | undefined;
}

/** The sessions of a store for the picker. */
export function createPickSource(source: PickSource): SessionSource {
  const { cli, store } = source;
  const principal = localPrincipal("terminal", null);
  const patch = async (
    reference: string,
    change: {
      readonly name?: string | null;
      readonly archived?: boolean;
      readonly pinned?: boolean;
    },
  ): Promise<void> => {
    await store.write(patchSession, { reference, change, project_key: null, principal });
  };
  return {
    open: (filters) => openPages(source, filters),
    search: (wanted) => searchHits(source, wanted),
    preview: (id) => readPreview(store, id),
    rename: async (id, name) => {
      if (name !== null && !isStorableText(name)) {
        throw wrongUsage("This name has characters that cannot be stored. Type another one.");
      }
      await patch(id, { name });
    },
    archive: (id, archived) => patch(id, { archived }),
    pin: async (id, pinned) => {
      await patch(id, { pinned });
      return readPicked(source, id);
    },
    fork: async (id) => {
      const origin = await store.read(readSession, { id });
      const fork = await store.write(forkRequested, { reference: id, principal });
      const session = await readPicked(source, fork.id);
      return { session, left: Math.max(0, origin.last_seq - fork.last_seq) };
    },
    previewDeletion: async (id) => {
      const previews = await store.read(previewDeletion, { id });
      const sum = (field: "messages" | "threads" | "checkpoints"): number =>
        previews.reduce((total, each) => total + each[field], 0);
      return [
        ...(previews.length > 1 ? [`With ${plural(previews.length - 1, "sub-agent")}.`] : []),
        `${plural(sum("messages"), "message")}, ${plural(sum("threads"), "thread")}, ${plural(sum("checkpoints"), "checkpoint")}.`,
      ];
    },
    delete: async (id) => {
      const deleted = await store.write(deleteSessionTree, { id });
      const ids = deleted.map(({ session }) => session.id);
      return { ids, note: await keptAfter(cli, deleted) };
    },
    refusal: ({ state }) =>
      state === "ended"
        ? "This session has ended and takes no more messages. `reprise sessions show` shows it."
        : null,
  };
}

async function readPicked(source: PickSource, id: string): Promise<PickedSession> {
  const session = await source.store.read(readSession, { id });
  const [picked] = await pickedAll(source, [session]);
  if (picked === undefined) {
    throw sessionNotFound();
  }
  return picked;
}

/** First the pinned sessions, then those of the working folder, of its repository, and the others. */
function openPages({ store, here, home }: PickSource, filters: PickerFilters): SessionPages {
  const where = listFilters(filters);
  const { project_key, project_id } = here;
  const ofPlace: Readonly<Record<Place, ListFilters>> = {
    pinned: { pinned: true, ...(filters.folder === "any" ? {} : { project_key }) },
    here: { project_key },
    repository: project_id === null ? {} : { project_id },
    elsewhere: {},
  };
  const groups = PLACES.filter(
    (place) =>
      place === "pinned" ||
      place === "here" ||
      (filters.folder === "any" && (place !== "repository" || project_id !== null)),
  );
  let after: ListPosition | null = null;
  let limit = DEFAULT_LIST_LIMIT;

  const readPage = async (group: Place): Promise<readonly PickedSession[]> => {
    const input: ListInput = {
      ...where,
      ...ofPlace[group],
      ...(after === null ? {} : { after }),
      limit,
    };
    const { sessions, next } = await store.read(listSessions, input);
    // the first page is on the screen at once, and the others take fewer queries
    limit = MAX_LIST_LIMIT;
    after = next;
    if (next === null) {
      groups.shift();
    }
    const wanted = sessions.filter((session) => placeOf(session, here) === group);
    return pickedAll({ store, here, home }, wanted);
  };
  return {
    next: async () => {
      const [group] = groups;
      const sessions = group === undefined ? [] : await readPage(group);
      return { sessions, more: groups.length > 0 };
    },
  };
}

function placeOf({ pinned_at, project_key, project_id }: Session, here: Project): Place {
  if (pinned_at !== null) {
    return "pinned";
  }
  if (project_key === here.project_key) {
    return "here";
  }
  return project_id !== null && project_id === here.project_id ? "repository" : "elsewhere";
}

const STATES: Readonly<Record<PickerFilters["state"], ListFilters>> = {
  "not ended": { state: "active" },
  running: { activity: "running" },
  interrupted: { activity: "interrupted" },
  ended: { state: "ended" },
  any: {},
};

function listFilters({ state, archived, subagents }: PickerFilters): ListFilters {
  return {
    ...STATES[state],
    ...(archived === "any" ? {} : { archived: archived === "archived" }),
    ...(subagents === "shown" ? {} : { roots: true }),
  };
}

async function pickedAll(
  { store, here, home }: Omit<PickSource, "cli">,
  sessions: readonly Session[],
): Promise<PickedSession[]> {
  const states = await statesOf(store, sessions);
  const origins = await store.read(readOrigins, { ids: sessions.map(({ id }) => id) });
  return sessions.map((session) => ({
    ...pickedOf(session, { here, home }),
    state: states.get(session.id) ?? session.activity,
    origin: origins.get(session.id) ?? null,
  }));
}

function pickedOf(
  session: Session,
  { here, home }: Pick<PickSource, "here" | "home">,
): Omit<PickedSession, "state" | "origin"> {
  const { id, name, title, repo_path, depth } = session;
  const { total_input_tokens, total_output_tokens, last_seq, archived_at } = session;
  return {
    id,
    name: name === null ? null : oneLine(name),
    title: oneLine(title ?? "(no message yet)"),
    folder: repo_path === null ? null : oneLine(withTilde(repo_path, home)),
    place: placeOf(session, here),
    model: oneLine(answererOf(session) ?? "-"),
    tokens: total_input_tokens + total_output_tokens,
    messages: last_seq,
    usedAt: Date.parse(session.last_message_at ?? session.created_at),
    createdAt: Date.parse(session.created_at),
    archived: archived_at !== null,
    pinned: session.pinned_at !== null,
    isRun: session.agent === PLAN_AGENT,
    depth,
  };
}

/** Messages that are read at most, to find some of different sessions. */
const SEARCHED_HITS = 200;
/** Sessions of which a message is listed. */
const LISTED_HITS = 20;

async function searchHits(
  { cli, store }: PickSource,
  { query, archived, signal }: HitSearch,
): Promise<PickedHit[]> {
  if (searchWords(query).length === 0 || !(await isSearchOn(cli))) {
    return [];
  }
  const hits = new Map<string, PickedHit>();
  let cursor: string | null | undefined;
  for (let read = 0; cursor !== null && read < SEARCHED_HITS && hits.size < LISTED_HITS;) {
    const input = { query, archived, limit: MAX_SEARCH_RESULTS, cursor };
    const { results, next } = await searchMessages(store, input, signal);
    for (const result of results) {
      const hit = hitOf(result);
      if (hit !== null && !hits.has(result.session_id) && hits.size < LISTED_HITS) {
        hits.set(result.session_id, hit);
      }
    }
    read += results.length;
    cursor = next;
  }
  return [...hits.values()];
}

/** Characters before the first word in a row. */
const BEFORE_WORD = 12;

/** Null for a name or a title. */
function hitOf({ session_id, seq, ts, excerpt, marks }: SearchResult): PickedHit | null {
  if (seq === null) {
    return null;
  }
  const [from = 0] = marks[0] ?? [];
  const before = Array.from(excerpt.slice(0, from));
  const start = before.slice(-BEFORE_WORD).join("");
  const short = `${start.length < from ? "…" : ""}${start}${excerpt.slice(from)}`;
  const at = Date.parse(ts);
  return { session_id, seq, excerpt: oneLine(excerpt).trim(), short: oneLine(short).trim(), at };
}

async function readPreview(store: Store, id: string): Promise<Preview> {
  const { json } = await store.read(readMessagePage, {
    reference: id,
    after_seq: 0,
    before_seq: Number.MAX_SAFE_INTEGER,
    order: "desc",
    all: false,
    limit: PREVIEW_MESSAGES,
    max_bytes: PREVIEW_BYTES,
  });
  const messages = (JSON.parse(json) as MessageInfo[]).flatMap(previewOf);
  const counts = await store.read(countSubagents, { roots: [id] });
  return { messages: messages.toReversed(), subagents: counts.get(id) ?? 0 };
}

/** Returns what people and the agent said; calls without a word are left out. */
function previewOf({ role, content }: MessageInfo): PreviewMessage[] {
  const text = oneLine(content.slice(0, PREVIEW_LENGTH));
  return (role === "user" || role === "assistant") && text !== "" ? [{ role, text }] : [];
}
