import type { RedactSource } from "../../core/redact/clean.ts";
import type { Secrets } from "../../core/secrets.ts";
import { settingsOf } from "../process/config.ts";
import type { CliContext } from "../process/context.ts";

/** Returns what `--redact` leaves out besides what every such export does. Error codes: `config_invalid` when it is read. */
export function redactSource(cli: CliContext, secrets: Secrets): RedactSource {
  return {
    home: cli.env["HOME"],
    patterns: async () => (await settingsOf(cli).config())?.redact ?? [],
    secrets,
  };
}
