import type { Secrets } from "../../../core/secrets.ts";
import type { OpenedAgent } from "../../../exchange/exchanger.ts";
import type { AppOptions } from "../../../http/app-options.ts";
import { createCatalogue } from "../../../rules/catalogue.ts";
import type { Store } from "../../../store/store.ts";
import { redactSource } from "../../output/redact-source.ts";
import {
  exchangerConfig,
  modelListFile,
  type NamedFiles,
  outputFolderPath,
  personaFolderPaths,
  settingsOf,
  undoFolderPath,
} from "../../process/config.ts";
import type { CliContext } from "../../process/context.ts";
import { isSearchOn } from "../../process/search.ts";

/** Options of the HTTP API that follow from the user's settings. */
export function serviceOptions(
  cli: CliContext,
  {
    store,
    files,
    secrets,
    agent,
  }: {
    readonly store: Store;
    readonly files: NamedFiles;
    readonly secrets: Secrets;
    /** Null for the built-in one. */
    readonly agent: OpenedAgent | null;
  },
) {
  return {
    store,
    version: cli.version,
    undoFolder: undoFolderPath(cli),
    secrets,
    redact: redactSource(cli, secrets),
    outputFolder: outputFolderPath(cli),
    isSearchOn: () => isSearchOn(cli),
    // an agent of others chooses its model and its instructions itself
    catalogue:
      agent === null
        ? createCatalogue({
            personas: personaFolderPaths(cli),
            settings: settingsOf(cli),
            modelLists: modelListFile(cli),
          })
        : undefined,
    // nobody is asked over HTTP, and what would ask is refused with a sentence that says so
    runStart:
      agent === null
        ? { ...exchangerConfig(cli, store, files), permission: { allow: [], asks: true } }
        : undefined,
  } satisfies Partial<AppOptions>;
}
