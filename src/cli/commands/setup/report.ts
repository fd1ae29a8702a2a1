import { stat } from "node:fs/promises";

import { oneLine } from "../../../core/text/terminal-text.ts";
import { builtInProvider } from "../../../rules/models/providers.ts";
import { configPlace, settingsOf } from "../../process/config.ts";
import { type CliContext, note, printJson, printLine } from "../../process/context.ts";
import { type Candidate, strongerVariables } from "./candidate.ts";
import { underHome } from "./keep.ts";

/** Says what was kept, and what counts before it. */
export async function report(
  cli: CliContext,
  done: {
    readonly candidate: Candidate;
    readonly model: string;
    readonly keyFile: string | null;
    readonly isTested: boolean;
    readonly isJson: boolean;
  },
): Promise<void> {
  const { candidate, model, keyFile, isTested } = done;
  const { file, home } = configPlace(cli);
  const config = await settingsOf(cli).config();
  const { models } = await settingsOf(cli).at(null);
  if (done.isJson) {
    printJson(cli, {
      provider: candidate.provider,
      model,
      tested: isTested,
      config: file,
      key_file: keyFile,
    });
  } else {
    if (isTested) {
      printLine(cli, `${oneLine(model)} answers.`);
    }
    if (keyFile !== null) {
      printLine(
        cli,
        `The key is in ${oneLine(underHome(keyFile, home))}, which only you can read.`,
      );
    }
    printLine(
      cli,
      `New sessions use ${oneLine(model)}: ${oneLine(underHome(file, home))} says so.`,
    );
    printLine(cli, "Run `reprise` to begin.");
  }
  const isKept =
    candidate.baseUrl !== null &&
    candidate.baseUrl === models.providers[candidate.provider]?.baseUrl;
  const ofAddress = isKept ? (builtInProvider(candidate.provider)?.addressVariables ?? []) : [];
  const stronger = strongerVariables(cli, candidate, config).filter(
    (name) => !ofAddress.includes(name),
  );
  for (const name of [...stronger, ...(cli.env["REPRISE_MODEL"] ? ["REPRISE_MODEL"] : [])]) {
    note(cli, `${name} is set here and counts before the config; unset it to use what was kept.`);
  }
  if (candidate.key !== null && "file" in candidate.key) {
    const found = await stat(candidate.key.file).catch(() => null);
    if (((found?.mode ?? 0) & 0o077) !== 0) {
      note(cli, "Others can read the file of the key; `chmod 600` on it changes that.");
    }
  }
}
