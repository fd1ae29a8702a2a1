import { existsSync } from "node:fs";
import { link, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";

import { Command, Option } from "commander";

import {
  FOREIGN_FORMATS,
  type ForeignFormat,
  type Problem,
} from "../../../artifacts/plans/import/foreign-plan.ts";
import type { ImportedPlan } from "../../../artifacts/plans/import/import-plan.ts";
import type { PhasePlan } from "../../../artifacts/plans/phase-plan.ts";
import { RepriseError, systemCode } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import { MAX_FAULTS } from "../../../core/limits.ts";
import { oneLine, quote } from "../../../core/text/terminal-text.ts";
import { plural } from "../../../core/text/text.ts";
import { personaFolderPaths } from "../../process/config.ts";
import { type CliContext, note, printJson } from "../../process/context.ts";
import { readArtifact } from "./checks.ts";

interface ImportOptions {
  readonly from: ForeignFormat;
  readonly role: string;
  readonly tag?: string;
  readonly out?: string;
}

/**
 * `plan import --from <tool> <file>`: prints the open tasks of another tool's file as a phase plan, or writes it into a
 * file that is not there yet. Notes on standard error say what was left out.
 */
export function importCommand(cli: CliContext): Command {
  return new Command("import")
    .description("make a plan of the open tasks of spec-kit, Kiro or Task Master")
    .argument("<file>", "its tasks.md or tasks.json; - for standard input")
    .addOption(
      new Option("--from <tool>", "the tool that the file is of")
        .choices([...FOREIGN_FORMATS])
        .makeOptionMandatory(),
    )
    .option("--role <persona>", "the persona that does all phases", "assistant")
    .option("--tag <name>", "the tag of a Task Master file (default: master)")
    .option("--out <file>", "write the plan into this new file")
    .action(async (file: string, options: ImportOptions) => {
      const { plan, left, notes } = await imported(cli, file, options);
      for (const [reason, ids] of left) {
        note(cli, `left out, ${reason}: ${listed(ids)}`);
      }
      for (const sentence of notes) {
        note(cli, sentence);
      }
      await noteRole(cli, options.role);
      if (options.out === undefined) {
        printJson(cli, plan, 2);
      } else {
        await writeNew(resolve(cli.cwd, options.out), `${JSON.stringify(plan, null, 2)}\n`);
        const size = plural(plan.phases.length, "phase");
        note(cli, `${oneLine(options.out)} has ${size}; \`reprise plan run\` runs it`);
      }
    });
}

async function imported(
  cli: CliContext,
  file: string,
  { from, role, tag }: ImportOptions,
): Promise<ImportedPlan & { readonly plan: PhasePlan }> {
  const artifact = await readArtifact(cli, file);
  const name = oneLine(file);
  if ("code" in artifact) {
    throw artifact.code === "file_unreadable"
      ? new RepriseError("file_unreadable", `${name} cannot be read: ${artifact.message}.`)
      : notImported(name, [artifact]);
  }
  const { importPlan } = await import("../../../artifacts/plans/import/import-plan.ts");
  const documents = file === "-" ? [] : documentsBeside(cli, file, from);
  const result = importPlan(artifact.text, {
    format: from,
    role,
    runId: newId(),
    documents,
    tag,
  });
  if (result.plan !== null) {
    return { ...result, plan: result.plan };
  }
  throw notImported(name, result.problems);
}

function notImported(name: string, problems: readonly Problem[]): RepriseError {
  const faults = problems
    .slice(0, MAX_FAULTS)
    .map(({ line, message }) => ({ pointer: "", message: `${name}:${line}: ${message}` }));
  const more = problems.length - faults.length;
  return new RepriseError(
    "plan_invalid",
    `No plan can be made of this file${more > 0 ? `; the first ${faults.length} problems` : ""}:`,
    { faults },
  );
}

const DOCUMENTS: Readonly<Record<ForeignFormat, readonly string[]>> = {
  "spec-kit": ["spec.md", "plan.md", "research.md", "data-model.md", "quickstart.md", "contracts"],
  kiro: ["requirements.md", "bugfix.md", "design.md"],
  taskmaster: [],
};

/** Paths of the specification beside a list of tasks, if it is in the working folder. */
function documentsBeside(cli: CliContext, file: string, format: ForeignFormat): string[] {
  const folder = dirname(resolve(cli.cwd, file));
  return DOCUMENTS[format]
    .map((name) => join(folder, name))
    .filter((path) => existsSync(path))
    .map((path) => relative(cli.cwd, path))
    .filter((path) => !path.startsWith("..") && oneLine(path) === path);
}

/** Ids that are named, at most. */
const MAX_NAMED = 12;

function listed(ids: readonly string[]): string {
  const names = ids.slice(0, MAX_NAMED).map(oneLine).join(", ");
  return ids.length > MAX_NAMED ? `${names} and ${ids.length - MAX_NAMED} more` : names;
}

async function noteRole(cli: CliContext, role: string): Promise<void> {
  const { planNames } = await import("../../../rules/personas/plan-names.ts");
  const { roles } = await planNames(personaFolderPaths(cli), cli.cwd);
  if (!roles.has(role)) {
    note(
      cli,
      `no persona is named ${quote(role)}; make .reprise/personas/${role}.md before you run the plan, or import it with --role assistant`,
    );
  }
}

/** Writes a file that is not there yet: as a whole, or not at all. */
async function writeNew(path: string, text: string): Promise<void> {
  const temporary = `${path}.${newId()}`;
  try {
    await writeFile(temporary, text, { flag: "wx" });
    await link(temporary, path);
  } catch (error) {
    throw notWritten(path, error);
  } finally {
    await rm(temporary, { force: true });
  }
}

function notWritten(path: string, error: unknown): unknown {
  const code = systemCode(error);
  if (code === undefined) {
    return error;
  }
  return code === "EEXIST"
    ? new RepriseError("invalid_usage", `${oneLine(path)} is there already; name another file.`)
    : new RepriseError("file_unwritable", `${oneLine(path)} cannot be written (${code}).`, {
        cause: error,
      });
}
