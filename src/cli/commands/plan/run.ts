import { Command } from "commander";

import { inOrderOf, phaseGraph } from "../../../artifacts/plans/phase-graph.ts";
import type { ScopedLimits } from "../../../core/cost/limits.ts";
import type { PermissionMode } from "../../../core/permissions.ts";
import { MAX_PARALLEL, MAX_RETRIES } from "../../../core/plan-runs.ts";
import { oneLine } from "../../../core/text/terminal-text.ts";
import type { PreparedRun } from "../../../plans/new-run.ts";
import { defaultModel } from "../../../rules/models/config.ts";
import { createRun } from "../../../store/records/plans/create-run.ts";
import { queueRun } from "../../../store/records/plans/queue-run.ts";
import { aligned } from "../../output/aligned.ts";
import { personaFolderPaths, settingsOf } from "../../process/config.ts";
import { type CliContext, printJson, printLines } from "../../process/context.ts";
import { databaseOption, openDatabase, withStore } from "../../process/database.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";
import { newSession } from "../chat/new-session.ts";
import { EVENTS_OPTION } from "../chat/chat-options.ts";
import { addPriceLimit, addTokenLimit } from "../limit-options.ts";
import { addAllowed, PERMISSION_HELP, permissionMode } from "../permission-options.ts";
import { enterFolder } from "../trust/enter-folder.ts";
import { TRUST_HELP, trustHere } from "../trust/trust-here.ts";
import { detachedBy, refuseDetached, showDetached } from "./detach.ts";
import { runForeground } from "./foreground.ts";
import { createPlanChecker } from "./checks.ts";
import { checkLines, confirmChecks, readChecks, startSource } from "./plan-checks.ts";
import { readPlan } from "./read-plan.ts";
import { shownTitle } from "./run-lines.ts";

interface RunCommandOptions {
  readonly parallel: number;
  readonly retries: number;
  readonly approve?: readonly string[];
  readonly only?: readonly string[];
  readonly checks?: string;
  readonly model?: string;
  readonly permission?: PermissionMode;
  readonly allow?: readonly string[];
  readonly tokenLimit?: ScopedLimits;
  readonly priceLimit?: ScopedLimits;
  readonly trust?: true;
  readonly again?: boolean;
  readonly detach?: true;
  readonly dryRun?: true;
  readonly json?: true;
  readonly "json=events"?: true;
}

/** `plan run <file>`: runs the phases of a plan in the working folder, each as a sub-agent. */
export function runCommand(cli: CliContext): Command {
  const command = new Command("run")
    .description("run the phases of a plan here, each with its role as the persona of a sub-agent")
    .argument("<file>", "the plan; - for standard input")
    .option(
      "--parallel <n>",
      "phases at once, of which one may change files",
      wholeUpTo(MAX_PARALLEL, 1),
      1,
    )
    .option(
      "--retries <n>",
      "further attempts of a phase that failed",
      wholeUpTo(MAX_RETRIES, 0),
      0,
    )
    .option("--approve <key|all>", "ask a person before such phases begin; can be repeated", addKey)
    .option(
      "--only <key>",
      "run such phases and those that they depend on; can be repeated",
      addKey,
    )
    .option(
      "--checks <file>",
      "commands that decide whether phases are done (default: the plan's name with .checks.yaml)",
    )
    .option("--model <provider:model>", "for roles whose persona names no model")
    .option("--permission <mode>", PERMISSION_HELP, permissionMode)
    .option("--allow <call>", "permit such calls in this process; can be repeated", addAllowed)
    .option(
      "--token-limit <what=n>",
      "tokens that an exchange, the session or its tree may use; can be repeated",
      addTokenLimit,
    )
    .option(
      "--price-limit <what=USD>",
      "dollars that an exchange, the session or its tree may cost; can be repeated",
      addPriceLimit,
    )
    .option("--trust", TRUST_HELP)
    .option("--again", "run a plan once more whose run has ended")
    .option("--detach", "let a service run it: reprise serve")
    .option("--dry-run", "only show what would run, with which models")
    .option("--json", "print one JSON document, for programs")
    .option(EVENTS_OPTION, "print one line of JSON for each event")
    .action(async (file: string, options: RunCommandOptions) => {
      if (options.permission === "plan") {
        throw wrongUsage(
          "Phases do work, so a plan cannot be run in planning mode. Use another --permission.",
        );
      }
      refuseDetached(options);
      if (options["json=events"] === true && options.dryRun === true) {
        throw wrongUsage("--dry-run runs nothing, so it has no events. Use --json.");
      }
      const events = options["json=events"] === true;
      const json = options.json === true || events;
      trustHere(cli, options);
      const checker = await createPlanChecker(cli);
      const plan = await readPlan(cli, file, checker);
      const keys = plan.phases.map(({ key }) => key);
      const checks = await readChecks(cli, checker, { file, named: options.checks, keys });
      const ask = cli.stdin.isTTY === true && !json;
      if (!(await enterFolder({ cli, folder: cli.cwd, from: cli.cwd, ask }))) {
        return;
      }
      const columns = await newSession(cli, options);
      const { models } = await settingsOf(cli).at(columns.repo_path);
      const model = options.model ?? defaultModel(models);
      const { parallel, retries, approve = [], only = [], again = false, allow = [] } = options;
      await using store = await openDatabase(cli, command);
      const { prepareRun } = await import("../../../plans/new-run.ts");
      const prepared = await prepareRun(
        {
          plan,
          checks,
          only,
          options: { parallel, retries, approve },
          session: { ...columns, persona_name: null, model },
          path: file === "-" ? null : file,
          again,
        },
        {
          roles: { personas: personaFolderPaths(cli), models },
          start: startSource(cli, { store, database: databaseOption(command), allow }),
        },
      );
      if (options.dryRun === true) {
        showDryRun(cli, prepared, { json });
        return;
      }
      if (!(await confirmChecks(cli, prepared.judged, { asks: ask }))) {
        return;
      }
      const { run } = prepared;
      if (options.detach === true) {
        const { id } = await store.write(queueRun, { ...run, ...detachedBy(cli) });
        const exchange = { session_id: id, state: "queued" } as const;
        await showDetached(cli, store, { command, exchange, json });
        return;
      }
      const { id } = await store.write(createRun, run);
      await runForeground(cli, { store, command, session_id: id, allow, json, events });
    });
  return withStore(command);
}

function addKey(key: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), key];
}

/** Reads a whole number of an option. */
function wholeUpTo(max: number, min: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
    if (!(number >= min && number <= max)) {
      throw wrongUsage(`The option takes a whole number from ${min} to ${max}.`);
    }
    return number;
  };
}

function showDryRun(
  cli: CliContext,
  { plan, roles, judged }: PreparedRun,
  { json }: { readonly json: boolean },
): void {
  const { waves } = inOrderOf(plan, phaseGraph(plan));
  const modelOf = (role: string): string => roles.get(role) ?? "";
  if (json) {
    const phases = plan.phases.map(({ key, role }) => ({ key, role, model: modelOf(role) }));
    const checks = judged.map(({ argv, decision }) => ({ argv, effect: decision.effect }));
    printJson(cli, { run_id: plan.runId, waves, phases, checks }, 2);
    return;
  }
  const byKey = new Map(plan.phases.map((phase) => [phase.key, phase]));
  const rows = waves.flatMap((wave, at) =>
    wave.map((key) => {
      const { title = "", role = "" } = byKey.get(key) ?? {};
      return [
        `wave ${at + 1}`,
        oneLine(key),
        shownTitle(title),
        oneLine(role),
        oneLine(modelOf(role)),
      ];
    }),
  );
  printLines(cli, [
    ...aligned(rows),
    ...checkLines(judged),
    "Nothing was stored, and nothing was sent to a model.",
  ]);
}
