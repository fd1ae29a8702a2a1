import { Command } from "commander";

import { MAX_SHARE_DAYS, SHARE_DAYS, sharePath } from "../../core/access.ts";
import type { ShareInfo } from "../../core/schemas/access-schemas.ts";
import { isUuid } from "../../core/ids.ts";
import { hashOf, newSecret } from "../../store/records/access/secrets.ts";
import { addShare, listShares, revokeShare } from "../../store/records/access/shares.ts";
import type { Store } from "../../store/store.ts";
import { localTime } from "../output/ages.ts";
import { aligned } from "../output/aligned.ts";
import {
  type CliContext,
  note,
  noticeLine,
  printJson,
  printLine,
  printLines,
} from "../process/context.ts";
import { openDatabase, withStore } from "../process/database.ts";
import { wholeNumber, wrongUsage } from "../process/wrong-usage.ts";

interface ShareOptions {
  readonly expires?: number;
  readonly url: string;
  readonly list?: true;
  readonly revoke?: string;
  readonly json?: true;
}

/** `share <id>`: makes a link that shows one session, lists those of the session, or ends one. */
export function shareCommand(cli: CliContext): Command {
  const command = new Command("share")
    .description("make a link that shows one session without a token, list or end its links")
    .argument("<id>", "an id, or the first 6 or more characters of it")
    .option(
      "--expires <days>",
      `days that the link is valid (default: ${SHARE_DAYS})`,
      wholeNumber("--expires", 1, MAX_SHARE_DAYS),
    )
    .option("--url <address>", "where readers reach the service", addressOf, DEFAULT_URL)
    .option("--list", "list the links that are valid, without their secrets")
    .option("--revoke <share>", "end this link")
    .option("--json", "print JSON")
    .action(async (reference: string, options: ShareOptions) => {
      const { revoke, list } = options;
      if ([list, revoke, options.expires].filter((given) => given !== undefined).length > 1) {
        throw wrongUsage("Use one of --list, --revoke and --expires at a time.");
      }
      await using store = await openDatabase(cli, command);
      if (list === true) {
        printShares(cli, await store.read(listShares, { reference }), options);
      } else if (revoke === undefined) {
        await makeShare(cli, { store, reference }, options);
      } else {
        await endShare(cli, { store, reference, share: revoke });
      }
    });
  return withStore(command);
}

const DEFAULT_URL = "http://127.0.0.1:8787";

async function makeShare(
  cli: CliContext,
  { store, reference }: { readonly store: Store; readonly reference: string },
  { expires: days = SHARE_DAYS, url, json }: ShareOptions,
): Promise<void> {
  const secret = newSecret();
  const added = await store.write(addShare, { reference, hash: hashOf(secret), days });
  const { id, session_id, expires_at } = added;
  const path = sharePath(session_id, secret);
  if (json === true) {
    printJson(cli, { id, secret, expires_at, path, url: `${url}${path}` });
    return;
  }
  printLine(cli, `${url}${path}`);
  note(
    cli,
    `Everybody with this address can read the session's messages until ${localTime(expires_at)}. Their machine has to reach a service of this database at ${url}; name another address with --url. To end it: \`reprise share ${session_id} --revoke ${id}\`.`,
  );
}

function printShares(
  cli: CliContext,
  shares: readonly ShareInfo[],
  { json }: Pick<ShareOptions, "json">,
): void {
  if (json === true) {
    printJson(cli, shares);
  } else if (shares.length === 0) {
    noticeLine(cli, "This session has no link that is valid.");
  } else {
    const rows = shares.map(({ id, created_at, expires_at, last_used_at }) => [
      id,
      localTime(created_at),
      last_used_at === null ? "-" : localTime(last_used_at),
      localTime(expires_at),
    ]);
    printLines(cli, aligned([["id", "made", "last used", "expires"], ...rows]));
  }
}

async function endShare(
  cli: CliContext,
  {
    store,
    ...which
  }: { readonly store: Store; readonly reference: string; readonly share: string },
): Promise<void> {
  const share = which.share.toLowerCase();
  if (!isUuid(share)) {
    throw wrongUsage("--revoke takes an id that `reprise share <id> --list` shows, in full.");
  }
  await store.write(revokeShare, { ...which, share });
  printLine(cli, `Ended: ${share}`);
}

/** An address without what a link adds, and without a slash at its end. Error codes: `invalid_usage`. */
function addressOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    [url.search, url.hash, url.username, url.password].every((part) => part === "");
  if (!isPlain) {
    throw wrongUsage("--url takes the address of a service, such as https://reprise.example.org.");
  }
  return url.href.replace(/\/+$/, "");
}
