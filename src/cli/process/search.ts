import { RepriseError } from "../../core/errors.ts";
import { settingsOf } from "./config.ts";
import type { CliContext } from "./context.ts";

/** Refuses a search that the user's config turns off. Error codes: `search_off`, `config_invalid`. */
export async function requireSearch(cli: CliContext): Promise<void> {
  const config = await settingsOf(cli).config();
  if (config?.search === "off") {
    throw new RepriseError(
      "search_off",
      "The search is off in the config. Turn it on with `reprise config set search on`.",
    );
  }
}
