import { oneLine } from "../../../core/text/terminal-text.ts";
import type { RunDetail, RunPhase, RunSummary } from "../../../core/schemas/plan-run-schemas.ts";
import { aligned } from "../../output/aligned.ts";
import type { CliContext } from "../../process/context.ts";
import { inSeconds, shortCount } from "../../terminal/text/amounts.ts";
import { cutLine } from "../../terminal/text/fold.ts";

/** Columns of an output that is not a terminal. */
const COLUMNS = 80;
/** Columns of a title that are shown. */
const TITLE_COLUMNS = 60;
/** Columns of a key that are shown. */
const KEY_COLUMNS = 20;
/** Characters of a session's id that are shown. */
const ID_SHOWN = 8;

/**
 * Lines of a run, the first one about all of it and then one for each phase, no wider than the terminal: state, session, time,
 * tokens and what the phase did last.
 */
export function runLines(run: RunDetail, columns: number): string[] {
  const rows = run.phases.map((phase) => [
    `  ${cutLine(oneLine(phase.key), KEY_COLUMNS)}`,
    phase.shown,
    phase.session_id?.slice(0, ID_SHOWN) ?? "",
    spentText(phase),
    tokensText(phase, "tok"),
    doingText(phase),
  ]);
  return [summaryLine(run), ...aligned(rows)].map((line) => cutLine(line, columns));
}

/** Lines of a run that is not shown again: with the whole text of each error. */
export function wholeRunLines(cli: CliContext, run: RunDetail): string[] {
  const errors = run.phases.flatMap(({ key, error, shown }) =>
    error === null || shown === "done" ? [] : [`${oneLine(key)}: ${oneLine(error.sentence)}`],
  );
  const columns = cli.stdout.terminal()?.size().columns ?? COLUMNS;
  return [...runLines(run, columns), ...errors, `plan ${run.run_id}`];
}

/** Returns the line for a change of a phase. */
export function phaseLine(phase: RunPhase): string {
  const isOver = phase.shown === "done" || phase.shown === "failed";
  const used = [spentText(phase), tokensText(phase, "tokens")].filter((text) => text !== "");
  const facts = isOver && used.length > 0 ? ` [${used.join(", ")}]` : "";
  return `${oneLine(phase.key)}: ${phase.shown}, ${phaseText(phase)}${facts}`;
}

/** Returns the line for a run in a list. */
export function summaryLine(run: RunSummary): string {
  const asking = run.asking.length === 0 ? "" : `, asks in ${run.asking.map(oneLine).join(", ")}`;
  const times = run.number === 1 ? "" : `, number ${run.number}`;
  return `${run.session_id}: ${run.state}, ${run.phases_done} of ${run.phases_total} phases done${asking}${times}`;
}

/** How long the attempt took, or takes so far; empty if that is unknown. */
function spentText({ begun_at, ended_at, shown }: RunPhase): string {
  const isOpen = shown === "running" || shown === "asking";
  const end = ended_at ?? (isOpen ? new Date().toISOString() : null);
  const isShown = isOpen || shown === "done" || shown === "failed";
  return begun_at === null || end === null || !isShown
    ? ""
    : inSeconds(Date.parse(end) - Date.parse(begun_at));
}

function tokensText({ usage }: RunPhase, unit: string): string {
  const used = (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0);
  return used === 0 ? "" : `${shortCount(used)} ${unit}`;
}

function doingText(phase: RunPhase): string {
  const { last_action: action, error, shown, attempt } = phase;
  const isBegun = ["running", "asking", "interrupted", "done"].includes(shown);
  const text = isBegun ? action?.text : error?.sentence;
  return text === undefined
    ? phaseText(phase)
    : `${attempt === 1 ? "" : `attempt ${attempt}: `}${oneLine(text)}`;
}

function phaseText({ title, role, attempt, error, shown }: RunPhase): string {
  const tried = attempt === 1 ? "" : `, attempt ${attempt}`;
  const why = error === null || shown === "done" ? "" : `: ${oneLine(error.sentence)}`;
  return `${shownTitle(title)} (${oneLine(role)}${tried})${why}`;
}

/** Returns the beginning of a phase's title, on one line. */
export function shownTitle(title: string): string {
  return cutLine(oneLine(title), TITLE_COLUMNS);
}
