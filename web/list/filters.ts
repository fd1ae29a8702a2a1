import type { ListOptions, SessionSummary } from "../../src/entries/client.ts";

/** What a session does, as the list shows and filters it. */
export const SHOWN_STATES = [
  "waiting",
  "running",
  "queued",
  "interrupted",
  "failed",
  "stopped",
  "idle",
  "ended",
] as const;
export type ShownState = (typeof SHOWN_STATES)[number];

/** What the list is limited to; null for no limit. In the query of the address under the same names. */
export interface Filters {
  /** The beginning of a name or a title. */
  readonly title: string | null;
  readonly state: ShownState | null;
  readonly folder: string | null;
  readonly model: string | null;
  /** Without it, archived sessions are left out. */
  readonly archived: "only" | "all" | null;
}

/** Reads a query; parameters that are not filters are ignored. */
export function filtersOf(query: URLSearchParams): Filters {
  const text = (name: string): string | null => {
    const value = query.get(name)?.trim() ?? "";
    return value === "" ? null : value;
  };
  const folder = text("folder");
  const archived = text("archived");
  return {
    title: text("title"),
    state: SHOWN_STATES.find((state) => state === text("state")) ?? null,
    // the service takes absolute paths only
    folder: folder?.startsWith("/") === true ? folder : null,
    model: text("model"),
    archived: archived === "only" || archived === "all" ? archived : null,
  };
}

export function hasFilter({ title, state, folder, model, archived }: Filters): boolean {
  return [title, state, folder, model, archived].some((filter) => filter !== null);
}

/** Filters of the service; `passes` does the rest. */
export function listQueryOf({ title, state, folder, archived }: Filters): ListOptions {
  return {
    ...(title === null ? {} : { title }),
    ...(state === null ? {} : SERVICE_STATES[state]),
    ...(folder === null ? {} : { repo_path: folder }),
    ...(archived === "all" ? {} : { archived: archived === "only" }),
  };
}

const SERVICE_STATES: Readonly<Partial<Record<ShownState, ListOptions>>> = {
  ended: { state: "ended" },
  idle: { state: "active" },
  interrupted: { activity: "interrupted" },
  running: { activity: "running" },
};

export function stateOf({ state, activity, exchange }: SessionSummary): ShownState {
  if (state === "ended") {
    return "ended";
  }
  switch (exchange?.state) {
    case "waiting":
    case "queued":
    case "failed":
    case "stopped":
      return exchange.state;
    default:
      return activity;
  }
}

/**
 * Whether a session belongs to the list. What the service has found (`known`, the same session before a change) is
 * not asked for its folder and its name again, unless they changed: the service compares them better.
 */
export function passes(
  session: SessionSummary,
  filters: Filters,
  {
    known,
    folderKeys,
  }: { readonly known: SessionSummary | null; readonly folderKeys: ReadonlySet<string> },
): boolean {
  const { title, state, folder, model, archived } = filters;
  const isArchived = typeof session.archived_at === "string";
  const isNamed =
    title === null ||
    (known !== null && known.name === session.name && known.title === session.title) ||
    [session.name, session.title].some(
      (text) => text?.toLowerCase().startsWith(title.toLowerCase()) === true,
    );
  const isThere =
    folder === null ||
    (known !== null && known.project_key === session.project_key) ||
    session.repo_path === folder ||
    (session.project_key !== null && folderKeys.has(session.project_key));
  return (
    isNamed &&
    isThere &&
    (state === null || stateOf(session) === state) &&
    (model === null || session.model === model) &&
    (archived === "all" || isArchived === (archived === "only"))
  );
}
