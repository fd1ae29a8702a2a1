import { Command } from "commander";

import { isUuid } from "../../core/ids.ts";
import { type AccessEntry, listAccess, revokeAccess } from "../../store/records/access/list.ts";
import { localTime } from "../output/ages.ts";
import { aligned } from "../output/aligned.ts";
import {
  type CliContext,
  noticeLine,
  printJson,
  printLine,
  printLines,
} from "../process/context.ts";
import { openDatabase, withStore } from "../process/database.ts";
import { wrongUsage } from "../process/wrong-usage.ts";

/** `tokens list|revoke`: the browsers that are logged in, and the links of sessions. */
export function tokensCommand(cli: CliContext): Command {
  const tokens = new Command("tokens").description(
    "list or end the logins of browsers and the links of sessions",
  );
  const list = new Command("list")
    .description("list logins and links that are valid")
    .option("--json", "print a JSON array of them")
    .action(async ({ json }: { json?: true }) => {
      await using store = await openDatabase(cli, list);
      const entries = await store.read(listAccess, null);
      if (json === true) {
        printJson(cli, entries);
      } else if (entries.length === 0) {
        noticeLine(cli, "No browser is logged in, and no session has a link.");
      } else {
        printLines(cli, aligned([HEAD, ...entries.map(rowOf)]));
      }
    });
  const revoke = new Command("revoke")
    .description("end a login or a link at once, on all services of the database")
    .argument("<id>", "an id that `tokens list` shows")
    .action(async (id: string) => {
      if (!isUuid(id)) {
        throw wrongUsage("The id must be one that `reprise tokens list` shows, in full.");
      }
      await using store = await openDatabase(cli, revoke);
      await store.write(revokeAccess, { id: id.toLowerCase() });
      printLine(cli, `Ended: ${id.toLowerCase()}`);
    });
  tokens.addCommand(withStore(list));
  tokens.addCommand(withStore(revoke));
  return tokens;
}

const HEAD = ["id", "kind", "made", "last used", "expires", "session"];

const KINDS: Readonly<Record<AccessEntry["kind"], string>> = {
  code: "login by code",
  token: "login by token",
  read_token: "login by read token",
  share: "login by link",
  link: "link",
};

function rowOf(entry: AccessEntry): string[] {
  const { id, kind, created_at, last_used_at, expires_at, session_id } = entry;
  const used = last_used_at === null ? "-" : localTime(last_used_at);
  return [id, KINDS[kind], localTime(created_at), used, localTime(expires_at), session_id ?? "-"];
}
