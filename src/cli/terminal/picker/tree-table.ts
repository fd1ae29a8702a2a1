import type { TreeMember } from "../../../store/records/sessions/trees/family-tree.ts";
import type { Store } from "../../../store/store.ts";
import { shortAge } from "../../output/ages.ts";
import { statesOf } from "../../output/facts.ts";
import { shortIds } from "../../output/table.ts";
import { treeTitles } from "../../output/tree-titles.ts";
import { measureFor } from "../text/measure.ts";
import { type Column, tableRows } from "../text/table.ts";
import { marksOf, stateStyles, type TableView } from "./session-table.ts";

interface TreeRow {
  readonly member: TreeMember;
  readonly id: string;
  readonly state: string;
  readonly branch: string;
  readonly text: string;
}

/** Trees of sessions as one table of the terminal's width, with an empty row between two of them. */
export async function treeTableRows(
  store: Store,
  trees: readonly (readonly TreeMember[])[],
  view: Pick<TableView, "width" | "theme" | "now">,
): Promise<string[]> {
  const sessions = trees.flat().map(({ session }) => session);
  const states = await statesOf(store, sessions);
  const ids = shortIds(sessions);
  const titles = trees.flatMap(treeTitles);
  const rows = trees.flat().map((member, index) => ({
    member,
    id: ids.get(member.session.id) ?? member.session.id,
    state: states.get(member.session.id) ?? member.session.activity,
    branch: branchOf(titles[index]?.branch ?? "", view.width),
    text: titles[index]?.text ?? "",
  }));
  const measure = await measureFor(rows.map(({ text }) => text));
  const [heading = "", ...drawn] = tableRows(columnsOf(view), rows, { ...view, measure });
  return [
    heading,
    ...drawn.flatMap((row, index) => (index > 0 && rows[index]?.branch === "" ? ["", row] : [row])),
  ];
}

/** Part of the terminal that lines from parents take at most. */
const BRANCHES = 1 / 3;

/** Keeps the end of the lines from parents, which says what a session is directly below. */
function branchOf(branch: string, width: number): string {
  const most = Math.max(4, 2 * Math.floor((width * BRANCHES) / 2));
  return branch.length <= most ? branch : `… ${branch.slice(2 - most)}`;
}

const LEAST_TITLE = 16;
const SHARE_OF_TITLES = 0.5;

function columnsOf({
  width,
  theme,
  now,
}: Pick<TableView, "width" | "theme" | "now">): readonly Column<TreeRow>[] {
  const styles = stateStyles(theme);
  return [
    {
      heading: "ID",
      cell: ({ id }) => ({ texts: [id], style: theme.dim }),
      priority: 1,
      min: 8,
    },
    {
      heading: "TREE",
      cell: ({ branch, text, member }) => ({
        texts: [`${branch}${text}`],
        marks: marksOf({ session: member.session, level: 1, subagents: 0 }),
      }),
      priority: 0,
      min: Math.max(LEAST_TITLE, Math.floor(width * SHARE_OF_TITLES)),
    },
    {
      heading: "STATE",
      cell: ({ state }) => {
        const style = styles[state];
        return { texts: [state], ...(style === undefined ? {} : { style }) };
      },
      priority: 3,
      min: 11,
    },
    {
      heading: "USED",
      cell: ({ member: { session } }) => ({
        texts: [shortAge(Date.parse(session.last_message_at ?? session.created_at), now)],
      }),
      priority: 2,
      min: 8,
    },
  ];
}
