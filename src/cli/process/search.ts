import { RepriseError } from "../../core/errors.ts";
import { settingsOf } from "./config.ts";
import type { CliContext } from "./context.ts";

/** Whether the user's config lets messages be searched. Error codes: `config_invalid`. */
export async function isSearchOn(cli: CliContext): Promise<boolean> {
  return (await settingsOf(cli).config())?.search !== "off";
}

/** Refuses a search that the user's config turns off. Error codes: `search_off`, `config_invalid`. */
export async function requireSearch(cli: CliContext): Promise<void> {
  if (!(await isSearchOn(cli))) {
    throw new RepriseError(
      "search_off",
      "The search is off in the config. Turn it on with `reprise config set search on`.",
    );
  }
}
