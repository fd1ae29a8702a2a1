import { homedir } from "node:os";

import type { PhasePlan } from "../artifacts/plans/phase-plan.ts";
import { isRepriseError, RepriseError } from "../core/errors.ts";
import type { PermissionMode } from "../core/permissions.ts";
import { quote } from "../core/text/terminal-text.ts";
import { type Argv, commandsOfPhase, type PlanChecks } from "../core/plan-runs.ts";
import { repositoryConfig } from "../rules/config/repository.ts";
import type { Decision } from "../rules/permissions/decide.ts";
import { Judge, type JudgeSource } from "../rules/permissions/judge.ts";
import { loadPersona } from "../rules/personas/load.ts";
import { DEFAULT_PERSONA } from "../rules/personas/persona.ts";
import { RUN_COMMAND } from "../rules/tools/built-in.ts";
import { mayRunCommands } from "../rules/trust/command-folder.ts";
import { workFolder, type WorkFolder } from "../rules/trust/wide-folder.ts";
import { realPathOf } from "../store/project-key.ts";
import { isFolder } from "../workspace/files/is-folder.ts";
import type { SandboxSource } from "../workspace/sandbox/probe.ts";
import { ArtifactPlace } from "./artifact-file.ts";
import { untrustedChecks } from "./untrusted-checks.ts";

export interface StartSource extends JudgeSource {
  readonly protectedPaths: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly sandbox?: SandboxSource | undefined;
}

export interface PlannedRun {
  readonly plan: PhasePlan;
  readonly checks: PlanChecks | null;
  readonly repo_path: string;
  /** Mode of the run's session; null for what the config says. */
  readonly mode: PermissionMode | null;
}

/** A command of a plan's checks, with what is decided about it as a call of `run_command` in the sandbox. */
export interface JudgedCheck {
  readonly argv: Argv;
  readonly decision: Decision;
}

/**
 * Refuses a run whose artifacts could not be written or whose checks could not be run, before a model is asked. Returns its
 * checks, each once: those that are to be asked about need somebody who lets them be run.
 *
 * Error codes: `schema_unknown`, `schema_invalid`, `file_unreadable`, `plan_invalid` for the path of an artifact,
 * `folder_not_trusted`, `folder_missing`, `sandbox_missing`, `config_invalid`.
 */
export async function checkStart(
  source: StartSource,
  run: PlannedRun,
): Promise<readonly JudgedCheck[]> {
  const { personas } = source;
  await refuseNoFolder(run);
  const root = await realPathOf(run.repo_path);
  const folder = await workFolder(run.repo_path, personas.trust);
  const judge = await Judge.open(
    source,
    { session: null, repo_path: root, mode: run.mode },
    {
      persona: await loadPersona({ ...personas, name: DEFAULT_PERSONA, repoPath: null }),
      folder,
      configured: await source.settings?.at(root),
      repository: await repositoryConfig(root, personas.trust),
    },
  );
  await checkArtifacts(source, run, judge, root);
  return judgedChecks(source, run, { judge, folder });
}

/** A plan that leaves no artifacts and has no checks needs the folder only when it runs. */
async function refuseNoFolder({ plan, checks, repo_path }: PlannedRun): Promise<void> {
  const isJudged =
    checks !== null || plan.phases.some(({ expected_artifact }) => expected_artifact !== undefined);
  if (isJudged && !(await isFolder(repo_path))) {
    throw new RepriseError(
      "folder_missing",
      "The folder of the run does not exist on this machine, so its artifacts and checks cannot be judged. Begin the run on the machine that has the folder.",
    );
  }
}

async function checkArtifacts(
  { protectedPaths, env }: StartSource,
  { plan, repo_path: repoPath }: PlannedRun,
  judge: Judge,
  root: string,
): Promise<void> {
  const phases = plan.phases.filter(({ expected_artifact: artifact }) => artifact !== undefined);
  if (phases.length === 0) {
    return;
  }
  const ids = await schemaIds(root);
  const gitUser = { home: homedir(), env };
  const place = new ArtifactPlace({ repoPath, protectedPaths, judge, gitUser });
  const paths = new Map<string, string>();
  for (const { key, expected_artifact: artifact } of phases) {
    const { path = "", schema = "" } = artifact ?? {};
    if (!ids.has(schema)) {
      throw new RepriseError(
        "schema_unknown",
        `The schema of the artifact of phase ${key} is not known. Put it into .reprise/schemas/, or name another one.`,
      );
    }
    const { shown } = await place.resolve(path).catch((error: unknown) => {
      throw isRepriseError(error, "invalid_request") ? unwritable(key, error.message) : error;
    });
    const folded = shown.normalize("NFC").toLowerCase();
    const other = paths.get(folded) ?? shown;
    if (other !== shown) {
      throw unwritable(key, `its path differs from ${quote(other)} only in its spelling`);
    }
    paths.set(folded, shown);
  }
}

function unwritable(key: string, why: string): RepriseError {
  return new RepriseError(
    "plan_invalid",
    `The artifact of phase ${key} cannot be written: ${why}.`,
  );
}

async function schemaIds(root: string): Promise<ReadonlySet<string>> {
  const [{ loadSchemas }, { createWorkerPool }] = await Promise.all([
    import("../artifacts/registry.ts"),
    import("../artifacts/project/worker-pool.ts"),
  ]);
  const pool = createWorkerPool();
  try {
    return (await loadSchemas(root, pool)).ids;
  } finally {
    await pool.close();
  }
}

async function judgedChecks(
  { sandbox, personas }: StartSource,
  { plan, checks }: PlannedRun,
  { judge, folder }: { readonly judge: Judge; readonly folder: WorkFolder },
): Promise<readonly JudgedCheck[]> {
  const all = plan.phases.flatMap(({ key }) => commandsOfPhase(checks, key));
  const commands = [...new Map(all.map((argv) => [JSON.stringify(argv), argv])).values()];
  if (commands.length === 0) {
    return [];
  }
  if (!(await mayRunCommands(folder, personas.trust))) {
    throw untrustedChecks();
  }
  const found = await sandbox?.probe();
  if (found === undefined || found.bubblewrap === null) {
    const why = found === undefined ? "" : `: ${found.reason}`;
    throw new RepriseError(
      "sandbox_missing",
      `The plan has checks, and there is no sandbox for commands here${why}. \`reprise doctor\` says more.`,
    );
  }
  return Promise.all(
    commands.map(async (argv) => {
      const command = { parts: [argv], place: "sandbox" } as const;
      return {
        argv,
        decision: await judge.decide({ tool: RUN_COMMAND, file: null, command }, null),
      };
    }),
  );
}
