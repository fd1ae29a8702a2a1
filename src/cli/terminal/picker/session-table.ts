import { PLAN_AGENT } from "../../../core/plan-runs.ts";
import type { Session } from "../../../core/sessions.ts";
import { isRoot } from "../../../core/session-tree.ts";
import { oneLine, titleLine } from "../../../core/text/terminal-text.ts";
import { plural } from "../../../core/text/text.ts";
import { MODEL_NAME } from "../../../rules/models/name.ts";
import type { Store } from "../../../store/store.ts";
import { shortAge } from "../../output/ages.ts";
import { statesOf } from "../../output/facts.ts";
import { answererOf, shortIds, withTilde } from "../../output/table.ts";
import { shortCount } from "../text/amounts.ts";
import { measureFor } from "../text/measure.ts";
import { type Column, tableRows } from "../text/table.ts";
import type { Theme } from "../text/theme.ts";

/** Where the table is shown, and to whom. */
export interface TableView {
  readonly width: number;
  readonly theme: Theme;
  /** The project key of the working folder. */
  readonly here: string;
  /** The user's home, which is shown as `~`. */
  readonly home: string | undefined;
  /** In milliseconds since 1970. */
  readonly now: number;
}

interface SessionRow {
  readonly session: Session;
  readonly id: string;
  readonly state: string;
  /** How many parents it has among those that are listed. */
  readonly level: number;
  readonly subagents: number;
}

/**
 * Sessions as a table of the terminal's width: sub-agents that are listed come below their session, of the others
 * `subagents` has the number by the id of the root.
 */
export async function sessionTableRows(
  store: Store,
  listed: { sessions: readonly Session[]; subagents: ReadonlyMap<string, number> },
  view: TableView,
): Promise<string[]> {
  const { sessions, subagents } = listed;
  const states = await statesOf(store, sessions);
  const ids = shortIds(sessions);
  const rows = inTrees(sessions).map(({ session, level }) => ({
    session,
    level,
    id: ids.get(session.id) ?? session.id,
    state: states.get(session.id) ?? session.activity,
    subagents: subagents.get(session.id) ?? 0,
  }));
  const columns = columnsOf(view);
  const texts = function* () {
    for (const row of rows) {
      for (const column of columns) {
        yield* column.cell(row).texts;
      }
    }
  };
  return tableRows(columns, rows, { ...view, measure: await measureFor(texts()) });
}

/** Each session before its sub-agents; otherwise in their order. */
function inTrees(sessions: readonly Session[]): { session: Session; level: number }[] {
  const listed = new Set(sessions.map(({ id }) => id));
  const children = Map.groupBy(sessions, ({ parent_session_id: parent }) =>
    parent !== null && listed.has(parent) ? parent : null,
  );
  const below = (id: string | null, level: number): { session: Session; level: number }[] =>
    (children.get(id) ?? []).flatMap((session) => [
      { session, level },
      ...below(session.id, level + 1),
    ]);
  const rows = below(null, 0);
  const shown = new Set(rows.map(({ session }) => session.id));
  // a damaged database may have sessions that work for each other
  const lost = sessions.filter(({ id }) => !shown.has(id));
  return [...rows, ...lost.map((session) => ({ session, level: 0 }))];
}

/** Narrower than this, a state that needs attention is a word before the title. */
const COLUMN_OF_STATES = 50;
const LEAST_TITLE = 16;
const SHARE_OF_TITLES = 0.26;
const GOOD_TITLE = 40;

function columnsOf(view: TableView): readonly Column<SessionRow>[] {
  const { width, theme, now } = view;
  const isNarrow = width < COLUMN_OF_STATES;
  const styles = stateStyles(theme);
  const styled = ({ state }: SessionRow) => {
    const style = styles[state];
    return style === undefined ? {} : { style };
  };
  const all: readonly (Column<SessionRow> & { readonly wide?: true })[] = [
    {
      heading: "ID",
      cell: ({ id }) => ({ texts: [id], style: theme.dim }),
      priority: 1,
      min: 8,
    },
    {
      heading: "TITLE",
      cell: (row) => ({
        texts: [titleOf(row, { withState: isNarrow })],
        marks: marksOf(row),
        ...(isNarrow ? styled(row) : {}),
      }),
      priority: 0,
      min: Math.max(LEAST_TITLE, Math.floor(width * SHARE_OF_TITLES)),
      good: GOOD_TITLE,
    },
    {
      heading: "STATE",
      cell: (row) => ({ texts: [row.state], ...styled(row) }),
      priority: 3,
      min: 11,
      wide: true,
    },
    {
      heading: "USED",
      cell: ({ session }) => ({
        texts: [shortAge(Date.parse(session.last_message_at ?? session.created_at), now)],
      }),
      priority: 2,
      min: 8,
    },
    {
      heading: "FOLDER",
      cell: ({ session }) => folderCell(session, view),
      priority: 4,
      min: 8,
      keepsEnd: true,
    },
    {
      heading: "MODEL",
      cell: ({ session }) => ({ texts: modelNames(session) }),
      priority: 5,
      min: 10,
    },
    {
      heading: "TOKENS",
      cell: ({ session }) => ({
        texts: [shortCount(session.total_input_tokens + session.total_output_tokens)],
      }),
      priority: 6,
      min: 6,
      align: "right",
    },
    {
      heading: "MESSAGES",
      cell: ({ session }) => ({ texts: [String(session.last_seq)] }),
      priority: 7,
      min: 8,
      align: "right",
    },
  ];
  return isNarrow ? all.filter(({ wide }) => wide !== true) : all;
}

/** Styles of the states that have one. */
export function stateStyles(theme: Theme): Readonly<Record<string, (text: string) => string>> {
  return {
    running: theme.accent,
    queued: theme.accent,
    waiting: theme.warning,
    interrupted: theme.warning,
    failed: theme.error,
    ended: theme.dim,
  };
}

function titleOf(
  { session, level, state }: SessionRow,
  { withState }: { readonly withState: boolean },
): string {
  const branch = level === 0 ? "" : `${"  ".repeat(level - 1)}└ `;
  const word = withState && state !== "idle" ? `${state}: ` : "";
  return `${branch}${word}${titleLine(session)}`;
}

/** Marks after a title, from long to short. */
export function marksOf({
  session,
  level,
  subagents,
}: Pick<SessionRow, "session" | "level" | "subagents">): string[] {
  const archived = (session.archived_at ?? null) === null ? [] : ["archived"];
  const pinned = (session.pinned_at ?? null) === null ? [] : ["pinned"];
  const parent = isRoot(session) || level > 0 ? [] : ["sub-agent"];
  const count = subagents === 0 ? [] : [plural(subagents, "sub-agent")];
  const plan = session.agent === PLAN_AGENT ? ["plan"] : [];
  const long = [...plan, ...pinned, ...archived, ...parent, ...count];
  const short = [
    ...plan,
    ...pinned,
    ...archived,
    ...parent,
    ...(subagents === 0 ? [] : [`+${subagents}`]),
  ];
  return long.length === 0 ? [] : [`[${long.join(", ")}]`, `[${short.join(", ")}]`];
}

function folderCell({ repo_path: path, project_key }: Session, { here, home, theme }: TableView) {
  if (path === null) {
    return { texts: [""] };
  }
  if (project_key === here) {
    return { texts: ["here"], style: theme.accent };
  }
  const whole = oneLine(withTilde(path, home));
  const names = whole.split("/");
  return { texts: [whole, ...[2, 1].map((last) => `…/${names.slice(-last).join("/")}`)] };
}

/** In full, and without the provider. */
function modelNames(session: Session): string[] {
  const name = oneLine(answererOf(session) ?? "");
  return answererOf(session) !== session.model || !new RegExp(MODEL_NAME).test(name)
    ? [name]
    : [name, name.slice(name.indexOf(":") + 1)];
}
