import { shownCost } from "../core/cost/money.ts";
import type { RunDetail, RunPhase } from "../core/schemas/plan-run-schemas.ts";
import { plural } from "../core/text/text.ts";
import { shownArgv } from "./check-consent.ts";
import { code } from "./markdown-code.ts";

/** Returns what a run did, as Markdown for a pull request. Every text from outside is in a code span. */
export function markdownReport(run: RunDetail): string {
  return [
    `# Run of plan ${code(run.run_id)}`,
    [
      `- ${run.state}, ${run.phases_done} of ${plural(run.phases_total, "phase")} done`,
      `- session ${code(run.session_id)}${run.number === 1 ? "" : `, run number ${run.number} of this plan`}`,
      ...(run.checks_consent === null
        ? []
        : [`- checks let run by ${code(run.checks_consent.who)}, ${run.checks_consent.at}`]),
      ...(run.path === null ? [] : [`- plan file ${code(run.path)}`]),
      ...usedLines(run.phases),
      ...(run.exchange?.error_sentence ? [`- error: ${code(run.exchange.error_sentence)}`] : []),
    ].join("\n"),
    table(run.phases),
    ...run.phases.map(section),
    ...unread(run),
  ]
    .join("\n\n")
    .concat("\n");
}

/** Sums of all phases; none if no model was asked. */
function usedLines(phases: readonly RunPhase[]): string[] {
  const usages = phases.flatMap(({ usage }) => usage ?? []);
  const known = phases.flatMap(({ cost_micros }) => cost_micros ?? []);
  const cost = shownCost({
    cost_micros: known.length === 0 ? null : sumOf(known),
    unpriced: sumOf(usages.map(({ unpriced_calls }) => unpriced_calls)),
  });
  const tokens = (counts: readonly (number | null)[]): string => {
    const counted = counts.filter((count) => count !== null);
    return `${counted.length < counts.length ? "at least " : ""}${sumOf(counted)}`;
  };
  const sumIn = tokens(usages.map(({ input_tokens }) => input_tokens));
  const sumOut = tokens(usages.map(({ output_tokens }) => output_tokens));
  return usages.length === 0
    ? []
    : [`- ${sumIn} tokens in, ${sumOut} tokens out, cost ${cost ?? "unknown"}`];
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}

const COLUMNS = [
  "phase",
  "title",
  "role",
  "model",
  "state",
  "attempts",
  "tokens in",
  "tokens out",
  "cost",
  "checks",
  "files",
];

function table(phases: readonly RunPhase[]): string {
  const rows = phases.map(
    ({ key, title, role, model, shown, attempt, usage, files_changed, ...phase }) => [
      code(key),
      code(title),
      code(role),
      model === null ? "" : code(model),
      shown,
      String(phase.session_id === null && attempt === 1 ? 0 : attempt),
      String(usage?.input_tokens ?? ""),
      String(usage?.output_tokens ?? ""),
      costText(phase, usage),
      checkedText(phase),
      String(files_changed),
    ],
  );
  return [COLUMNS, COLUMNS.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

function checkedText({ checked }: Pick<RunPhase, "checked">): string {
  return checked === null ? "" : checked.commands.every(passed) ? "passed" : "failed";
}

function passed({ failure }: RanCommand): boolean {
  return failure === null;
}

/** Empty for a phase without a known price, and for one that asked no model. */
function costText(
  { cost_micros }: Pick<RunPhase, "cost_micros">,
  usage: RunPhase["usage"],
): string {
  const cost =
    usage === null || usage.calls === 0 ? null : { cost_micros, unpriced: usage.unpriced_calls };
  return cost === null ? "" : (shownCost(cost) ?? "unknown");
}

function section(phase: RunPhase): string {
  const { key, title, shown, begun_at, ended_at, session_id, error } = phase;
  const until = ended_at === null ? "" : `, until ${ended_at}, ${tookText(begun_at, ended_at)}`;
  return [
    `## ${code(key)}: ${code(title)}`,
    "",
    `- ${shown}${begun_at === null ? "" : `, from ${begun_at}${until}`}`,
    ...(session_id === null ? [] : [`- session ${code(session_id)}`]),
    ...(error === null || shown === "done"
      ? []
      : [`- error ${code(error.code)}: ${code(error.sentence)}`]),
    ...(phase.artifact === null ? [] : [artifactLine(phase.artifact)]),
    ...(phase.checked === null ? [] : checkLines(phase.checked)),
    ...phase.approvals.map(approvalLine),
    ...fileLines(phase),
  ].join("\n");
}

function tookText(begun_at: string | null, ended_at: string): string {
  const ms = Math.max(0, Date.parse(ended_at) - Date.parse(begun_at ?? ended_at));
  return `${(ms / 1000).toFixed(1)} s`;
}

function artifactLine({ path, schema, hash }: NonNullable<RunPhase["artifact"]>): string {
  const stored = hash === null ? "not handed in" : `SHA-256 ${code(hash)}`;
  return `- artifact ${code(path)} of ${code(schema)}: ${stored}`;
}

type Checked = NonNullable<RunPhase["checked"]>;
type RanCommand = Checked["commands"][number];

function checkLines({ attempt, corrections, artifact_hash, commands }: Checked): string[] {
  const after = corrections === 0 ? "" : `, after ${plural(corrections, "correction")}`;
  const about = artifact_hash === null ? "" : `, of the artifact ${code(artifact_hash)}`;
  return [
    `- checks of attempt ${attempt}${after}${about}:`,
    ...commands.map(
      ({ argv, code: exit, failure, ms }) =>
        `  - ${code(shownArgv(argv))}: ${exit === null ? "no exit code" : `exit code ${exit}`}, ${ms} ms${failure === null || failure === `exit code ${exit}` ? "" : `, ${code(failure)}`}`,
    ),
  ];
}

function approvalLine({
  attempt,
  answer,
  by,
  who,
  at,
  counts,
  note,
}: RunPhase["approvals"][number]): string {
  const why = note === null || note === "" ? "" : `: ${code(note)}`;
  const what = answer === "approve" ? "approved" : "refused";
  return `- attempt ${attempt} ${what}${who === null ? "" : ` by ${code(who)}`} from ${PLACES[by]}, ${at}${counts ? "" : " (not in this database, so it does not count)"}${why}`;
}

const PLACES: Readonly<Record<RunPhase["approvals"][number]["by"], string>> = {
  terminal: "a terminal",
  prompt: "a command",
  http: "HTTP",
  agent: "the agent",
  timeout: "a time limit",
};

function fileLines({ files, files_changed }: RunPhase): string[] {
  const more = files_changed - files.length;
  return files_changed === 0
    ? []
    : [
        "- files changed:",
        ...files.map(({ path, undone }) => `  - ${code(path)}${undone ? ", undone" : ""}`),
        ...(more === 0 ? [] : [`  - and ${more} more`]),
      ];
}

function unread({ unread: messages }: RunDetail): string[] {
  return messages.length === 0
    ? []
    : [
        "## Messages that no model got",
        messages.map(({ seq, ts, content }) => `- ${seq}, ${ts}: ${code(content)}`).join("\n"),
      ];
}
