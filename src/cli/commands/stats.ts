import { Command, Option } from "commander";

import { NO_COUNTS, totalUsage } from "../../core/cost/model-calls.ts";
import { shownCost } from "../../core/cost/money.ts";
import { MAX_STATS } from "../../core/limits.ts";
import { STATS_BY, type StatsBy } from "../../core/sessions.ts";
import type { StatInfo } from "../../core/schemas/stats-schemas.ts";
import { oneLine } from "../../core/text/terminal-text.ts";
import { readStats } from "../../store/records/model-calls/stats.ts";
import { since as sinceOf } from "../output/ages.ts";
import { withTilde } from "../output/table.ts";
import { type CliContext, noticeLine, printJson } from "../process/context.ts";
import { openDatabase, withStore } from "../process/database.ts";
import { shortCount } from "../terminal/text/amounts.ts";
import { measureFor } from "../terminal/text/measure.ts";
import { type Column, tableRows } from "../terminal/text/table.ts";

interface StatsOptions {
  readonly by: StatsBy;
  readonly since?: Date;
  readonly json?: true;
}

/** `stats`: what the requests of models have used and cost, in groups. */
export function statsCommand(cli: CliContext): Command {
  const command = new Command("stats")
    .description("sum what models have read, written and cost, of all sessions")
    .addOption(
      new Option("--by <group>", "sum by day (UTC), session (with its sub-agents), folder or model")
        .choices(STATS_BY)
        .default("day"),
    )
    .option("--since <time>", "only what came later: 36h, 7d, 2w or a day", sinceOf)
    .option("--json", "print a JSON array, for programs")
    .action(async ({ by, since, json }: StatsOptions) => {
      await using store = await openDatabase(cli, command);
      const stats = await store.read(readStats, { by, since });
      if (json === true) {
        printJson(cli, stats, 2);
        return;
      }
      if (stats.length === 0) {
        noticeLine(
          cli,
          since === undefined ? "No model was asked yet." : "No model was asked since then.",
        );
        return;
      }
      cli.stdout.printRows(await rowsOf(cli, by, stats));
      if (stats.length === MAX_STATS) {
        noticeLine(cli, `These are ${MAX_STATS}; there may be more. Choose fewer with --since.`);
      }
    });
  return withStore(command);
}

interface StatRow extends Omit<StatInfo, "key" | "title"> {
  readonly name: string;
}

/** A table of the terminal's width, and as wide as its texts elsewhere. */
async function rowsOf(
  cli: CliContext,
  by: StatsBy,
  stats: readonly StatInfo[],
): Promise<readonly string[]> {
  const [{ createTheme }, { themeOf }] = await Promise.all([
    import("../terminal/text/themes.ts"),
    import("../terminal/text/theme-of.ts"),
  ]);
  const rows = stats.map((stat) => ({ ...stat, name: nameOf(by, stat, cli.env["HOME"]) }));
  const terminal = cli.stdout.terminal();
  return tableRows(columnsOf(by), stats.length > 1 ? [...rows, totalOf(stats)] : rows, {
    width: terminal?.size().columns ?? Number.POSITIVE_INFINITY,
    theme:
      terminal === null
        ? createTheme({ env: { NO_COLOR: "1" }, setting: "auto" })
        : await themeOf(cli),
    measure: await measureFor(rows.map(({ name }) => name)),
  });
}

const LEAST_NAME = 16;

function columnsOf(by: StatsBy): readonly Column<StatRow>[] {
  const number = (
    heading: string,
    priority: number,
    text: (row: StatRow) => string,
  ): Column<StatRow> => ({
    heading,
    cell: (row) => ({ texts: [text(row)] }),
    priority,
    min: heading.length,
    align: "right",
  });
  return [
    {
      heading: by.toUpperCase(),
      cell: ({ name }) => ({ texts: [name] }),
      priority: 0,
      min: LEAST_NAME,
      ...(by === "folder" ? { keepsEnd: true } : {}),
    },
    number("REQUESTS", 4, ({ calls }) => shortCount(calls)),
    number("INPUT", 2, ({ input }) => tokensText(input)),
    number("CACHED", 5, ({ input, cached }) =>
      input === null || cached === null || input === 0
        ? "-"
        : `${Math.floor((cached / input) * 100)} %`,
    ),
    number("OUTPUT", 3, ({ output }) => tokensText(output)),
    {
      heading: "COST",
      cell: (row) => ({
        texts: [shownCost({ ...row, unpriced: row.unknown_calls }) ?? "unknown"],
      }),
      priority: 1,
      min: "at least $1,000.00".length,
      align: "right",
    },
  ];
}

function tokensText(tokens: number | null): string {
  return tokens === null ? "-" : shortCount(tokens);
}

function nameOf(by: StatsBy, { key, title }: StatInfo, home: string | undefined): string {
  switch (by) {
    case "session":
      return oneLine(`${key?.slice(0, 8)}  ${title ?? "(no title)"}`);
    case "folder":
      return key === null ? "(no folder)" : oneLine(withTilde(key, home));
    default:
      return oneLine(key ?? "");
  }
}

function totalOf(stats: readonly StatInfo[]): StatRow {
  const { calls, input, cache_read, output, cost_micros, unpriced } = totalUsage(
    stats.map((stat) => ({
      ...NO_COUNTS,
      calls: stat.calls,
      unpriced: stat.unknown_calls,
      input: stat.input,
      cache_read: stat.cached,
      output: stat.output,
      cost_micros: stat.cost_micros,
    })),
  );
  return {
    name: "total",
    calls,
    input,
    cached: cache_read,
    output,
    cost_micros,
    unknown_calls: unpriced,
  };
}
