import { lstat, readdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

import { RepriseError } from "../../../core/errors.ts";
import { MAX_FAULTS } from "../../../core/limits.ts";
import type { PlanChecks } from "../../../core/plan-runs.ts";
import { quoted } from "../../../core/text/shell-words.ts";
import { oneLine, quote } from "../../../core/text/terminal-text.ts";
import {
  firstAsking,
  refuseAsking,
  refuseDenied,
  shownArgv,
} from "../../../plans/check-consent.ts";
import type { JudgedCheck, PlannedRun, StartSource } from "../../../plans/check-start.ts";
import { planOf } from "../../../plans/plan-of-run.ts";
import { acceptChecks } from "../../../store/records/plans/create-run.ts";
import type { StoredRun } from "../../../store/records/plans/read-runs.ts";
import { readPermissions } from "../../../store/records/sessions/permissions.ts";
import type { Store } from "../../../store/store.ts";
import { principalOf } from "../chat/new-session.ts";
import { ask, isYes } from "../../process/ask.ts";
import { databaseLocation, exchangerConfig } from "../../process/config.ts";
import { type CliContext, noticeLine } from "../../process/context.ts";
import { type PlanChecker, readArtifact } from "./checks.ts";
import type { FileReport } from "./findings.ts";

const END = ".checks.yaml";

/** True for the name of a file of checks, which has no plan. */
export function isChecksFile(file: string): boolean {
  return file.endsWith(END);
}

const PLAN_END = /\.(?:json|ya?ml)$/i;

/** The file of checks beside a plan, also a link to nothing; null if there is none. */
export async function checksBeside(cli: CliContext, plan: string): Promise<string | null> {
  const file = plan.replace(PLAN_END, "") + END;
  const found = await lstat(resolve(cli.cwd, file)).catch(() => null);
  return plan === "-" || found === null ? null : file;
}

/**
 * Returns files beside a plan that somebody may take for its checks, and that are not read: another ending, the ending of the
 * plan kept, or another case.
 */
async function unreadBeside(cli: CliContext, plan: string): Promise<readonly string[]> {
  if (plan === "-") {
    return [];
  }
  const stem = basename(plan).replace(PLAN_END, "");
  const names = await readdir(dirname(resolve(cli.cwd, plan))).catch(() => []);
  const plans = new Set(
    names.filter((name) => PLAN_END.test(name)).map((name) => name.replace(PLAN_END, "")),
  );
  return names.filter((name) => {
    const [, own] = /^(.*?)(?:\.(?:json|ya?ml))?\.checks?(?:\.(?:json|ya?ml))?$/is.exec(name) ?? [];
    return (
      own !== undefined &&
      own.toLowerCase() === stem.toLowerCase() &&
      name !== stem + END &&
      // on a disk that keeps both, they are checks of another plan
      (own === stem || !plans.has(own))
    );
  });
}

/** Returns an error for each file that is not read, but may be meant as the checks of a plan. */
export async function unreadChecks(cli: CliContext, plan: string): Promise<readonly FileReport[]> {
  const unread = await unreadBeside(cli, plan);
  if (unread.length === 0) {
    return [];
  }
  const { textError, toReport } = await import("../../../artifacts/finding.ts");
  const read = basename(plan).replace(PLAN_END, "") + END;
  const message = `this file is not read: the checks of the plan are in ${quote(read)}; rename it, or name it with --checks of \`reprise plan run\``;
  return unread.map((name) => ({
    file: join(dirname(plan), name),
    ...toReport([textError("checks_unread", message)]),
  }));
}

/** Error codes: `plan_invalid` if a file beside the plan may be meant as its checks, and is not read. */
async function refuseUnread(cli: CliContext, plan: string): Promise<void> {
  const [unread] = await unreadBeside(cli, plan);
  if (unread !== undefined) {
    const read = basename(plan).replace(PLAN_END, "") + END;
    throw new RepriseError(
      "plan_invalid",
      `The checks of a plan are read from ${quote(read)}, so those in ${quote(unread)} would not be run. Rename that file, or name it with --checks.`,
    );
  }
}

export type ChecksFileReport = FileReport & { readonly checks: PlanChecks | null };

/** Validates a file of checks of a plan with these keys; null for an unknown plan. */
export async function reportChecks(
  cli: CliContext,
  { registry }: Pick<PlanChecker, "registry">,
  { file, keys }: { readonly file: string; readonly keys: readonly string[] | null },
): Promise<ChecksFileReport> {
  const [{ validateChecks }, { PLAN_CHECKS }, { toReport }] = await Promise.all([
    import("../../../artifacts/plans/plan-checks.ts"),
    import("../../../artifacts/registry.ts"),
    import("../../../artifacts/finding.ts"),
  ]);
  const artifact = await readArtifact(cli, file);
  const schema = await registry.schema(PLAN_CHECKS);
  if ("code" in artifact || schema === null) {
    return { file, ...toReport("code" in artifact ? [artifact] : []), checks: null };
  }
  return { file, ...(await validateChecks(artifact, { schema, keys })) };
}

/**
 * Reads the checks of a plan: those of a named file, else those beside the plan; null for none.
 *
 * Error codes: `plan_invalid` with the first errors, or for a file beside the plan that is not read; `file_unreadable`.
 */
export async function readChecks(
  cli: CliContext,
  checker: Pick<PlanChecker, "registry">,
  plan: {
    readonly file: string;
    readonly named: string | undefined;
    readonly keys: readonly string[];
  },
): Promise<PlanChecks | null> {
  if (plan.named === undefined) {
    await refuseUnread(cli, plan.file);
  }
  const file = plan.named ?? (await checksBeside(cli, plan.file));
  if (file === null) {
    return null;
  }
  const { checks, findings } = await reportChecks(cli, checker, { file, keys: plan.keys });
  if (checks !== null) {
    return checks;
  }
  const { findingLine } = await import("./findings.ts");
  const unreadable = findings.find(({ code }) => code === "file_unreadable");
  if (unreadable !== undefined) {
    throw new RepriseError("file_unreadable", `The checks cannot be read: ${unreadable.message}.`);
  }
  const faults = findings
    .slice(0, MAX_FAULTS)
    .map((finding) => ({ pointer: finding.pointer, message: findingLine(finding) }));
  const message = "These are not valid checks; `reprise plan validate` lists all errors.";
  throw new RepriseError("plan_invalid", message, { faults });
}

export interface Starting {
  readonly store: Store;
  /** As of `--database`. */
  readonly database: string | undefined;
  /** Rules of `--allow`. */
  readonly allow: readonly string[];
}

/** Source of what a run is judged by before it begins. */
export function startSource(cli: CliContext, { store, database, allow }: Starting): StartSource {
  const location = databaseLocation(cli, database);
  const config = exchangerConfig(cli, store, { location });
  return { ...config, permission: { allow, asks: true } };
}

/** Returns a line for each check, with the decision about it. */
export function checkLines(checks: readonly JudgedCheck[]): string[] {
  return checks.map(({ argv, decision }) => {
    const what = { allow: "runs", ask: "needs your consent", deny: "is denied" }[decision.effect];
    return `check ${shownArgv(argv)}: ${what} (${oneLine(`${decision.rule}, ${decision.layer}`)})`;
  });
}

/**
 * Shows the checks, and asks about those that need it. False, with the exit code 1, if the person says no.
 *
 * Error codes: `invalid_usage` for what is denied, or would ask where nobody can be asked.
 */
export async function confirmChecks(
  cli: CliContext,
  checks: readonly JudgedCheck[],
  { asks, isImported = false }: { readonly asks: boolean; readonly isImported?: boolean },
): Promise<boolean> {
  for (const line of checkLines(checks)) {
    noticeLine(cli, line);
  }
  refuseDenied(checks);
  if (firstAsking(checks) === null) {
    return true;
  }
  if (!asks) {
    // the mode of a run that is there is not chosen again
    const other = isImported
      ? "continue the run in a terminal, which asks"
      : "use --permission auto";
    refuseAsking(checks, (rule) =>
      rule === null
        ? `No rule can name it, so ${other}.`
        : `Use --allow ${quoted(rule)} for each such check, or ${other}.`,
    );
  }
  const question = "Let Reprise run these checks in the sandbox, without a network? [y/N] ";
  const isAccepted = isYes(await ask(cli, { question, on: cli.stderr }));
  if (!isAccepted) {
    noticeLine(cli, "Nothing was run: you did not let its checks be run.");
    cli.exitCode = 1;
  }
  return isAccepted;
}

/**
 * Asks about the checks of a run that came from another database, as for a new run; nothing for any other run. False if the
 * person says no.
 */
export async function confirmImported(
  cli: CliContext,
  run: StoredRun,
  { asks, ...starting }: Starting & { readonly asks: boolean },
): Promise<boolean> {
  const { checks, session } = run;
  if (checks === null || run.checks_accepted === 1 || session.repo_path === null) {
    return true;
  }
  const { store } = starting;
  const { mode } = await store.read(readPermissions, { id: session.id });
  const planned: PlannedRun = { plan: planOf(run), checks, repo_path: session.repo_path, mode };
  const { checkStart } = await import("../../../plans/check-start.ts");
  const judged = await checkStart(startSource(cli, starting), planned);
  const isAccepted = await confirmChecks(cli, judged, { asks, isImported: true });
  if (isAccepted) {
    const principal = principalOf(cli, {});
    await store.write(acceptChecks, { session_id: run.session_id, principal });
  }
  return isAccepted;
}
