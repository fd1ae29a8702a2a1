import type { Holdings } from "../../../rules/trust/holdings.ts";
import type { Startable } from "../../../rules/trust/startables.ts";
import type { GivenAnswer } from "../../../rules/trust/trust.ts";
import { holdsAnything } from "../../../rules/trust/holds-anything.ts";
import { isRepriseError } from "../../../core/errors.ts";
import { oneLine } from "../../../core/text/terminal-text.ts";
import { ask as askInTerminal } from "../../process/ask.ts";
import { personaFolderPaths } from "../../process/config.ts";
import { type CliContext, note, noticeLine } from "../../process/context.ts";

interface EnterInput {
  readonly cli: CliContext;
  readonly folder: string | null;
  /** The folder that the person is in, for which `--trust` counts. */
  readonly from: string;
  /** False without a person to answer: the files stay unused, and a notice reports it. */
  readonly ask: boolean;
}

/**
 * Asks once whether the files of a folder that direct the agent may be used, if it has any and this
 * list has no answer yet. Returns false if the person leaves.
 */
export async function enterFolder({ cli, folder, from, ask }: EnterInput): Promise<boolean> {
  if (folder === null || !holdsAnything(folder)) {
    return true;
  }
  const [{ holdingsOf }, { answerFor, isSeen, isSameProject }, { findSchemaFiles }] =
    await Promise.all([
      import("../../../rules/trust/holdings.ts"),
      import("../../../rules/trust/trust.ts"),
      import("../../../artifacts/find-schema-files.ts"),
    ]);
  const folders = personaFolderPaths(cli);
  const holdings = await holdingsOf(folders, folder, findSchemaFiles);
  if (holdings.items.length === 0) {
    return true;
  }
  const answer = await answerFor(folders.trust, folder, holdings.fingerprint);
  if (answer === "unanswered" && ask) {
    return askAboutFolder(cli, folder, holdings);
  }
  if (answer === "trusted" && ask) {
    const seen = await Promise.all(
      holdings.startables.map(({ digest }) => isSeen(folders.trust, folder, digest)),
    );
    const unseen = holdings.startables.filter((_, at) => seen[at] === false);
    return unseen.length === 0 || askAboutStartables(cli, folder, unseen);
  }
  if (answer !== "trusted" && holdings.withheld.length > 0) {
    const isHere = await isSameProject({ home: folders.trust.home, a: from, b: folder });
    const way = isHere
      ? "Use --trust for one run, or `reprise trust add` in the folder."
      : `The session works in ${oneLine(folder)}: use --trust or \`reprise trust add\` there.`;
    note(cli, `${notUsed(holdings)} ${way}`);
  }
  return true;
}

/** Says what of a folder is not used because it is not trusted, for a person at an editor; null if that is nothing. */
export async function withheldSentence(cli: CliContext, folder: string): Promise<string | null> {
  if (!holdsAnything(folder)) {
    return null;
  }
  const [{ holdingsOf }, { answerFor }, { findSchemaFiles }] = await Promise.all([
    import("../../../rules/trust/holdings.ts"),
    import("../../../rules/trust/trust.ts"),
    import("../../../artifacts/find-schema-files.ts"),
  ]);
  const folders = personaFolderPaths(cli);
  const holdings = await holdingsOf(folders, folder, findSchemaFiles);
  const isTrusted =
    (await answerFor(folders.trust, folder, holdings.fingerprint)) === "trusted" ||
    holdings.withheld.length === 0;
  return isTrusted ? null : `${notUsed(holdings)} Use \`reprise trust add\` in the folder.`;
}

function notUsed({ withheld }: Holdings): string {
  return `The folder is not trusted, so these are not used: ${firstOf(withheld, MAX_NOTED).join("; ")}.`;
}

/** Files that the one-line note names, and the question. */
const MAX_NOTED = 3;
const MAX_ASKED = 40;

function firstOf(items: readonly string[], max: number): string[] {
  const shown = items.slice(0, max).map(oneLine);
  const left = items.length - shown.length;
  return left === 0 ? shown : [...shown, `and ${left} more`];
}

async function askAboutFolder(
  cli: CliContext,
  folder: string,
  holdings: Holdings,
): Promise<boolean> {
  noticeLine(cli, `The folder ${oneLine(folder)} has files that direct the agent:`);
  const { firstShown, leftSentence } = await import("../../../rules/trust/startables.ts");
  // every command is shown: they come after the instructions and the files that name them
  const { shown, left } = firstShown(holdings.startables);
  const commands = shown.reduce((sum, { lines }) => sum + lines.length, 0);
  const max = Math.max(MAX_ASKED, commands + 3);
  for (const item of firstOf(holdings.items, max)) {
    noticeLine(cli, `  ${item}`);
  }
  sayLeft(cli, leftSentence(left));
  const answer = await readAnswer(cli);
  if (answer === "leave") {
    return false;
  }
  const { fingerprint: declined } = holdings;
  await keep(
    cli,
    folder,
    answer === "use" ? { trusted: true, seen: digestsOf(shown) } : { trusted: false, declined },
  );
  return true;
}

/** Asks about what a folder that is trusted would run, as far as it was not shown. */
async function askAboutStartables(
  cli: CliContext,
  folder: string,
  unseen: readonly Startable[],
): Promise<boolean> {
  const { firstShown, leftSentence } = await import("../../../rules/trust/startables.ts");
  const { shown, left } = firstShown(unseen);
  const kinds = [...new Set(shown.map(({ kind }) => `${kind}s`))].join(" and ");
  noticeLine(cli, `The folder ${oneLine(folder)}, which you trust, has new ${kinds}:`);
  for (const { kind, lines } of shown) {
    for (const line of lines) {
      noticeLine(cli, `  ${kind} ${oneLine(line)}`);
    }
  }
  sayLeft(cli, leftSentence(left));
  const answer = await readAnswer(cli);
  if (answer === "use") {
    await keep(cli, folder, { trusted: true, seen: digestsOf(shown) });
  }
  return answer !== "leave";
}

function sayLeft(cli: CliContext, sentence: string | null): void {
  if (sentence !== null) {
    note(cli, sentence);
  }
}

function digestsOf(startables: readonly Startable[]): readonly string[] {
  return startables.map(({ digest }) => digest);
}

async function readAnswer(cli: CliContext): Promise<"use" | "without" | "leave"> {
  const question = "Use them (y), continue without them (N), or leave (q)? ";
  const line = await askInTerminal(cli, { question, on: cli.stderr });
  const word = line?.trim().toLowerCase() ?? "q";
  if (["y", "yes"].includes(word)) {
    return "use";
  }
  return ["q", "quit", "leave"].includes(word) ? "leave" : "without";
}

/** An answer that cannot be kept counts for this run. */
async function keep(cli: CliContext, folder: string, answer: GivenAnswer): Promise<void> {
  const { keepAnswer } = await import("../../../rules/trust/trust.ts");
  try {
    await keepAnswer(personaFolderPaths(cli).trust, folder, answer);
  } catch (error) {
    if (!isRepriseError(error)) {
      throw error;
    }
    cli.consent = { ...cli.consent, forThisRun: answer.trusted ? { folder } : "none" };
    note(cli, `${error.message} Your answer counts for this run.`);
  }
}
