import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import { Command, Option } from "commander";

import { type Cleaner, NOTHING_CLEANED, type Redaction } from "../../../core/redact/clean.ts";
import { EXPORT_FORMATS } from "../../../core/sessions.ts";
import { oneLine } from "../../../core/text/terminal-text.ts";
import { resolveSession } from "../../../store/records/sessions/read.ts";
import type { Store } from "../../../store/store.ts";
import { sessionsOf, type SessionTree } from "../../../store/portable/export-schema.ts";
import { readSessionTree } from "../../../store/portable/read-tree.ts";
import { exportText } from "../../../store/portable/export-text.ts";
import { inconsistencyOf } from "../../../store/portable/consistency.ts";
import { firstDifference } from "../../../store/verify/verify-session.ts";
import { databaseLocation } from "../../process/config.ts";
import { type CliContext, noticeLine, printLine } from "../../process/context.ts";
import { databaseOption, openDatabase, withStore } from "../../process/database.ts";
import { transcriptText } from "../../output/transcript-text.ts";
import { ownSecrets } from "../../process/own-secrets.ts";
import { redactSource } from "../../output/redact-source.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";

interface ExportOptions {
  readonly format: (typeof EXPORT_FORMATS)[number];
  readonly redact?: true;
  readonly preview?: true;
}

interface Export {
  readonly cli: CliContext;
  readonly command: Command;
  readonly store: Store;
  readonly id: string;
  readonly cleaner: Cleaner;
}

/** `sessions export <id>`: all of a session, its sub-agents too, on standard output. */
export function exportCommand(cli: CliContext): Command {
  const command = new Command("export")
    .description("write a session with its sub-agents to standard output")
    .argument("<id>", "an id, or the first 6 or more characters of it")
    .addOption(
      new Option("--format <format>", "json to import it elsewhere, md or html to read it")
        .choices(EXPORT_FORMATS)
        .default("json"),
    )
    .option(
      "--redact",
      "leave out keys, tokens, e-mail addresses, home paths and texts of the config",
    )
    .option("--preview", "with --redact, list what would be left out, and write nothing else")
    .action(async (reference: string, options: ExportOptions) => {
      if (options.preview === true && options.redact !== true) {
        throw wrongUsage("--preview lists what --redact leaves out; add --redact.");
      }
      await using store = await openDatabase(cli, command);
      const { id } = await store.read(resolveSession, { reference });
      let found = 0;
      const onFound = ({ kind, where, masked }: Redaction): void => {
        found += 1;
        if (options.preview === true) {
          printLine(cli, oneLine(`${where}: ${kind}, ${masked}`));
        }
      };
      const cleaner =
        options.redact === true ? await cleanerOf({ cli, command }, onFound) : NOTHING_CLEANED;
      const exported = { cli, command, store, id, cleaner };
      if (options.preview === true) {
        await preview(exported, options.format);
        if (found === 0) {
          noticeLine(cli, "Nothing would be left out.");
        }
      } else if (options.format === "json") {
        await writeJson(exported);
      } else {
        const text = await transcriptText(exported, options.format);
        await pipeline(Readable.from(text), cli.stdout.sink("text"));
      }
    });
  return withStore(command);
}

async function cleanerOf(
  { cli, command }: Pick<Export, "cli" | "command">,
  onFound: (redaction: Redaction) => void,
): Promise<Cleaner> {
  const { createCleaner } = await import("../../../core/redact/create-cleaner.ts");
  const secrets = ownSecrets(cli, { location: databaseLocation(cli, databaseOption(command)) });
  return createCleaner(redactSource(cli, secrets), onFound);
}

async function preview(exported: Export, format: ExportOptions["format"]): Promise<void> {
  const { store, id, cleaner } = exported;
  if (format === "json") {
    await redactedOf(await store.read(readSessionTree, { id }), cleaner);
  } else {
    for await (const _ of await transcriptText(exported, format)) {
      // what is found is what counts
    }
  }
}

async function writeJson({ cli, store, id, cleaner }: Export): Promise<void> {
  const tree = await store.read(readSessionTree, { id });
  const written = await redactedOf(tree, cleaner);
  const text = exportText(written, new Date().toISOString());
  // waits for a slow reader instead of keeping it all in memory twice
  await pipeline(Readable.from(text), cli.stdout.sink("json"));
  const doubt = await doubtOf(store, written);
  if (doubt !== null) {
    noticeLine(cli, `This export cannot be imported, because it does not verify: ${doubt}`);
    cli.exitCode = 1;
  }
}

async function redactedOf(tree: SessionTree, cleaner: Cleaner): Promise<SessionTree> {
  if (cleaner === NOTHING_CLEANED) {
    return tree;
  }
  const { redactedTree } = await import("../../../store/portable/redact/redact-tree.ts");
  return redactedTree(tree, cleaner);
}

/** Says what an import would refuse: the user has to know it before deleting what was exported. */
async function doubtOf(store: Store, tree: SessionTree): Promise<string | null> {
  const problem = inconsistencyOf(tree);
  if (problem !== null) {
    return `${problem.pointer}: ${problem.message}`;
  }
  for (const { session } of sessionsOf(tree)) {
    const difference = await firstDifference(store, session.id);
    if (difference !== null) {
      return `${session.id}: ${difference}`;
    }
  }
  return null;
}
