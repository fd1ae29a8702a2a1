import { type CommandUsage, usageOf } from "../conversation/command-usage.ts";
import type { CellText } from "./cell-text.ts";

/** What the editor understands besides the commands. */
const TYPED: readonly (readonly [string, string])[] = [
  ["//text", "send a message that begins with /"],
  ["!command", "run a command; !! gives its output to the agent"],
];

/** In a narrower terminal the arguments are left out: the completion shows them. */
const MIN_USAGES = 60;

/** The rows of `/help`: what is typed, and beside it what that does. Rows of at most `width` columns. */
export function helpRows(
  commands: readonly CommandUsage[],
  { width, text }: { readonly width: number; readonly text: CellText },
): string[] {
  const isWide = width >= MIN_USAGES;
  const rows = [
    ...commands.map((each) => [isWide ? usageOf(each) : `/${each.name}`, each.help] as const),
    ...TYPED,
  ];
  const [indent, gap] = isWide ? ["  ", 2] : ["", 1];
  const first = Math.max(...rows.map(([typed]) => typed.length)) + indent.length + gap;
  return rows.flatMap(([typed, help]) =>
    text
      .wrap(help, Math.max(10, width - first))
      .map((row, index) => `${(index === 0 ? indent + typed : "").padEnd(first)}${row}`),
  );
}
