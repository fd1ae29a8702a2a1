import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Command } from "commander";

import { isEmptyHistory } from "../../../compat/histories/collected.ts";
import { findHistories } from "../../../compat/histories/find-histories.ts";
import { FolderProjects } from "../../../compat/histories/folder-projects.ts";
import { Rollouts } from "../../../compat/histories/formats/rollouts.ts";
import type { ChildHistory, History, Problem, Program } from "../../../compat/histories/history.ts";
import { readHistories } from "../../../compat/histories/read-histories.ts";
import { sessionTreeOf } from "../../../compat/histories/session-tree.ts";
import { type ErrorCode, isRepriseError, RepriseError } from "../../../core/errors.ts";
import { MAX_SUBAGENT_DEPTH } from "../../../core/limits.ts";
import { exactLine, oneLine, titleLine } from "../../../core/text/terminal-text.ts";
import { plural } from "../../../core/text/text.ts";
import { isPostgres } from "../../../store/location.ts";
import {
  continueImport,
  type ImportedSession,
  type ImportOutcome,
  previewImport,
} from "../../../store/portable/histories/continue-import.ts";
import { type SessionTree, sessionsOf } from "../../../store/portable/export-schema.ts";
import { verifyTree, withNewIds } from "../../../store/portable/import-tree.ts";
import type { ReadOnlyStore } from "../../../store/store.ts";
import { databaseLocation } from "../../process/config.ts";
import { type CliContext, note, noticeLine, printJson, printLine } from "../../process/context.ts";
import { databaseOption, openDatabase } from "../../process/database.ts";
import { exitCodeOf } from "../../process/exit-code.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";
import { openSourceAt } from "../copy/copy-pair.ts";
import { showFolders } from "./show-folders.ts";

export interface ForeignOptions {
  readonly from: Program;
  readonly file: string | undefined;
  readonly all?: true;
  readonly dryRun?: true;
  readonly newIds?: true;
  readonly json?: true;
}

interface ListedSession extends ImportedSession {
  readonly source: string;
  readonly imported_id: string;
  readonly parent_session_id: string | null;
  readonly title: string | null;
  readonly repo_path: string | null;
  readonly created_at: string;
  readonly last_message_at: string | null;
}

interface Failure {
  readonly source: string;
  readonly code: ErrorCode;
  readonly message: string;
}

interface Report {
  readonly sessions: ListedSession[];
  readonly problems: Problem[];
  readonly failures: Failure[];
}

/** `sessions import --from <program>`: each conversation in a transaction; a file that is unusable stops no other one. */
export async function importForeign(
  cli: CliContext,
  command: Command,
  options: ForeignOptions,
): Promise<void> {
  const rollouts = new Rollouts();
  const files = await filesOf(cli, options, rollouts);
  await using target = await openTarget(cli, command, options.dryRun === true);
  const report: Report = { sessions: [], problems: [], failures: [] };
  const importing = { options, report, target, rollouts, projects: new FolderProjects() };
  for (const file of files) {
    try {
      await importFile(file, importing);
    } catch (error) {
      if (options.all === true && isEmptyHistory(error)) {
        report.problems.push({ source: file, line: null, message: "has no message." });
        continue;
      }
      if (!isRepriseError(error) || options.all !== true || isOfDatabase(error)) {
        throw error;
      }
      report.failures.push({ source: file, code: error.code, message: error.message });
      cli.exitCode = exitCodeOf(error.code);
    }
  }
  show(cli, options, report);
}

function isOfDatabase({ code }: RepriseError): boolean {
  return code.startsWith("database_") || code === "internal";
}

async function filesOf(
  cli: CliContext,
  { from, file, all }: ForeignOptions,
  rollouts: Rollouts,
): Promise<readonly string[]> {
  if ((file === undefined) === (all !== true)) {
    throw wrongUsage("With --from, name one file of the program, or --all.");
  }
  if (file !== undefined) {
    return [resolve(cli.cwd, file)];
  }
  const home = cli.env["HOME"] ?? homedir();
  const found = await findHistories(from, { home, env: cli.env });
  if (found.length === 0) {
    throw new RepriseError(
      "file_unreadable",
      `No conversations of ${from} are in its folder. Name a file instead of --all.`,
    );
  }
  return from === "codex" ? rollouts.roots(found) : found;
}

/** Stores a tree, or says what would be stored. */
interface Target extends AsyncDisposable {
  readonly take: (tree: SessionTree) => Promise<readonly ImportedSession[]>;
}

async function openTarget(cli: CliContext, command: Command, isDry: boolean): Promise<Target> {
  if (!isDry) {
    const store = await openDatabase(cli, command);
    return {
      take: (tree) => store.write(continueImport, { tree }),
      [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
    };
  }
  const location = databaseLocation(cli, databaseOption(command));
  const source: ReadOnlyStore | null =
    isPostgres(location) || existsSync(location) ? await openSourceAt(location) : null;
  return {
    take: (tree) =>
      source === null ? Promise.resolve(newSessions(tree)) : source.read(previewImport, { tree }),
    [Symbol.asyncDispose]: () => source?.[Symbol.asyncDispose]() ?? Promise.resolve(),
  };
}

function newSessions(tree: SessionTree): readonly ImportedSession[] {
  return [...sessionsOf(tree)].map(({ session, messages }) => {
    return { id: session.id, outcome: "new", messages: messages.length };
  });
}

interface Importing {
  readonly options: ForeignOptions;
  readonly report: Report;
  readonly target: Target;
  readonly rollouts: Rollouts;
  readonly projects: FolderProjects;
}

async function importFile(file: string, importing: Importing): Promise<void> {
  const { options, report, target, rollouts, projects } = importing;
  for await (const history of readHistories(options.from, file, rollouts)) {
    const made = await sessionTreeOf(history, new Date().toISOString(), projects);
    const tree = options.newIds === true ? withNewIds(made) : made;
    verifyTree(tree);
    const imported = await target.take(tree);
    const outcomes = new Map(imported.map((one) => [one.id, one]));
    const sources = allOf(history);
    for (const [at, { session }] of [...sessionsOf(tree)].entries()) {
      const { id, title, parent_session_id, repo_path, created_at, last_message_at } = session;
      const { outcome, messages } = outcomes.get(id) ?? { outcome: "present", messages: 0 };
      const { source, id: imported_id } = sources[at] ?? history;
      report.sessions.push({
        id,
        outcome,
        messages,
        source,
        imported_id,
        parent_session_id,
        title,
        repo_path,
        created_at,
        last_message_at,
      });
    }
    report.problems.push(...sources.flatMap(({ problems }) => problems), ...tooDeep(history));
  }
}

/** A history and its sub-agents, in the order of their sessions: deeper ones become none. */
function allOf(history: History | ChildHistory, depth = 0): readonly History[] {
  const children = depth < MAX_SUBAGENT_DEPTH ? history.children : [];
  return [history, ...children.flatMap((child) => allOf(child, depth + 1))];
}

/** A problem for each history whose sub-agents are too deep to become sessions. */
function tooDeep(history: History | ChildHistory, depth = 0): readonly Problem[] {
  if (depth < MAX_SUBAGENT_DEPTH) {
    return history.children.flatMap((child) => tooDeep(child, depth + 1));
  }
  const left = descendantsOf(history);
  const message = `has ${plural(left, "sub-agent")} deeper than ${MAX_SUBAGENT_DEPTH} levels: none was imported.`;
  return left === 0 ? [] : [{ source: history.source, line: null, message }];
}

function descendantsOf({ children }: History): number {
  return children.reduce((sum, child) => sum + 1 + descendantsOf(child), 0);
}

const VERBS: Readonly<Record<ImportOutcome, readonly [done: string, planned: string]>> = {
  new: ["Imported", "Would import"],
  added: ["Added to", "Would add to"],
  present: ["Unchanged", "Unchanged"],
  kept: ["Left alone", "Would leave alone"],
};

function show(cli: CliContext, { json, dryRun, newIds }: ForeignOptions, report: Report): void {
  for (const { source, line, message } of report.problems) {
    const place = line === null ? exactLine(source) : `${exactLine(source)}, line ${line}`;
    noticeLine(cli, `skipped: ${place} ${oneLine(message)}`);
  }
  for (const { source, code, message } of report.failures) {
    noticeLine(cli, `error: ${exactLine(source)} [${code}] ${message}`);
  }
  if (json === true) {
    printJson(cli, report);
    return;
  }
  for (const session of report.sessions) {
    const verb = VERBS[session.outcome][dryRun === true ? 1 : 0];
    const count = plural(session.messages, "message");
    printLine(cli, `${verb}: ${session.id}  ${count}  ${titleLine(session)}`);
  }
  if (report.sessions.some(({ outcome }) => outcome === "kept") && newIds !== true) {
    note(
      cli,
      "A session that was continued, cleared or ended here, or whose history was rewritten, keeps its messages. Import it with --new-ids to have all of the history as another session.",
    );
  }
  const stored = report.sessions.filter(({ outcome }) => outcome === "new");
  showFolders(cli, dryRun === true ? [] : stored.map(({ repo_path }) => repo_path));
}
