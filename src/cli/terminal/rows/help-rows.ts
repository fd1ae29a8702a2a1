import { type CommandUsage, usageOf } from "../../chat/command-usage.ts";
import type { CellText } from "../pi/cell-text.ts";

/** Keys and signs that the editor understands besides the commands. */
const TYPED = [
  {
    usage: "//text",
    help: "send a message that begins with /",
    brief: "a message that begins with /",
  },
  {
    usage: "!command",
    help: "run a command; !! gives its output to the agent",
    brief: "run one (!!: for the agent)",
  },
];

/** A narrower terminal gets the brief texts without the arguments, which the completion shows. */
const MIN_USAGES = 60;

/** The rows of `/help`: what is typed, and beside it what that does. Rows of at most `width` columns. */
export function helpRows(
  commands: readonly CommandUsage[],
  { width, text }: { readonly width: number; readonly text: CellText },
): string[] {
  const isWide = width >= MIN_USAGES;
  const rows = [
    ...commands.map((each) => ({ ...each, usage: isWide ? usageOf(each) : `/${each.name}` })),
    ...TYPED,
  ];
  const [indent, gap] = isWide ? ["  ", 2] : ["", 1];
  const first = Math.max(...rows.map(({ usage }) => usage.length)) + indent.length + gap;
  return rows.flatMap(({ usage, help, brief = help }) =>
    text
      .wrap(isWide ? help : brief, Math.max(10, width - first))
      .map((row, index) => `${(index === 0 ? indent + usage : "").padEnd(first)}${row}`),
  );
}
