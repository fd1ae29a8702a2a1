import { type Check, failedBy, ok } from "../../../store/check.ts";
import { madeTokenFile } from "../../process/config.ts";
import type { CliContext } from "../../process/context.ts";
import { readMadeToken } from "../../process/made-token.ts";

/** Where services find the token that they share, and whether they can use it. It is never shown. */
export async function checkToken(cli: CliContext): Promise<Check[]> {
  if (cli.env["REPRISE_TOKEN"] !== undefined) {
    return [ok("token", "The token of services is that of REPRISE_TOKEN.")];
  }
  try {
    const file = madeTokenFile(cli);
    const sentence =
      (await readMadeToken(file)) === null
        ? `No service has made a token yet. The first \`reprise serve\` without one makes it in ${file}.`
        : `The token of services that are given no other is in ${file}.`;
    return [ok("token", sentence)];
  } catch (error) {
    return [{ ...failedBy(error, "token"), status: "warning" }];
  }
}
