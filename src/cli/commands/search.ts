import { Command, Option } from "commander";

import { SEARCHED_ROLES, type SearchedRole } from "../../core/search/search.ts";
import { projectKeyOf } from "../../store/project-key.ts";
import { since } from "../output/ages.ts";
import { OPEN_RESULT, searchLines, searchNotices } from "../output/search-lines.ts";
import { type CliContext, noticeLine, printJson, printLines } from "../process/context.ts";
import { openDatabase, withStore } from "../process/database.ts";
import { firstResults, requireSearch } from "../process/search.ts";
import { wrongUsage } from "../process/wrong-usage.ts";

interface SearchOptions {
  readonly here?: true;
  readonly since?: Date;
  readonly role?: SearchedRole;
  readonly archived?: true;
  readonly json?: true;
}

/** `search <words…>`: messages, names, titles and calls that have all of the words. */
export function searchCommand(cli: CliContext): Command {
  const command = new Command("search")
    .description("find messages by their words, in all sessions")
    .argument("<words...>", 'all of them have to be there; "…" in quotes is one word')
    .option("--here", "only sessions of the working folder")
    .option("--since <time>", "only messages stored since then: 36h, 7d, 2w or a day", since)
    .addOption(new Option("--role <role>", "only messages of it").choices([...SEARCHED_ROLES]))
    .option("--archived", "also archived sessions, and messages that /clear archived")
    .option("--json", "print one JSON document")
    .action(async (words: readonly string[], options: SearchOptions) => {
      await requireSearch(cli);
      const query = words.join(" ");
      if (query.replaceAll('"', "").trim() === "") {
        throw wrongUsage("A search needs a word.");
      }
      const project_key = options.here === true ? await projectKeyOf(cli.cwd) : undefined;
      await using store = await openDatabase(cli, command);
      const page = await firstResults(store, {
        query,
        project_key,
        role: options.role,
        since: options.since?.toISOString(),
        archived: options.archived,
      });
      if (options.json === true) {
        const { results, complete, indexed_until } = page;
        printJson(cli, { results, complete, indexed_until });
        return;
      }
      printLines(cli, searchLines(page.results));
      for (const sentence of searchNotices(page)) {
        noticeLine(cli, sentence);
      }
      if (page.results.length > 0 && cli.stdout.terminal() !== null) {
        noticeLine(cli, OPEN_RESULT);
      }
    });
  return withStore(command);
}
