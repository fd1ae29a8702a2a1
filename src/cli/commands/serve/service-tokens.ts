import { resolve } from "node:path";

import { isRepriseError, RepriseError } from "../../../core/errors.ts";
import { isLoopback } from "../../../http/guards/hosts.ts";
import type { Log } from "../../../http/metrics/request-log.ts";
import { MAX_LINE_FILE_BYTES } from "../../../core/limits.ts";
import { madeTokenFile } from "../../process/config.ts";
import type { CliContext } from "../../process/context.ts";
import { readLimited } from "../../process/read-limited.ts";

interface TokenOptions {
  readonly host: string;
  readonly tokenFile?: string;
  readonly readTokenFile?: string;
  readonly metricsTokenFile?: string;
  /** The number of this process among those that share a port. */
  readonly process?: number;
}

/** As `AppOptions` takes them. */
interface ServiceTokens {
  readonly token: string | undefined;
  readonly madeToken: string | undefined;
  readonly readToken: string | undefined;
  readonly metricsToken: string | undefined;
  /** The file of `madeToken`. */
  readonly madeIn: string | null;
}

/**
 * The tokens of a service. One that is given none, and that only this machine reaches, makes its own; if that cannot
 * be, the log says why, and the service has no token.
 *
 * Error codes: `config_invalid`.
 */
export async function serviceTokens(
  cli: CliContext,
  options: TokenOptions,
  log: Log,
): Promise<ServiceTokens> {
  const token = await tokenIn(cli, options.tokenFile, cli.env["REPRISE_TOKEN"]);
  const readToken = await tokenIn(cli, options.readTokenFile);
  const metricsToken = await tokenIn(cli, options.metricsTokenFile);
  const mayMake = token === undefined && isLoopback(options.host);
  const { madeToken, madeIn } = mayMake ? await ownToken(cli, options, log) : NONE;
  return { token, madeToken, readToken, metricsToken, madeIn };
}

type OwnToken = Pick<ServiceTokens, "madeToken" | "madeIn">;

const NONE: OwnToken = { madeToken: undefined, madeIn: null };

async function ownToken(
  cli: CliContext,
  { process = 1 }: TokenOptions,
  log: Log,
): Promise<OwnToken> {
  const { makeToken } = await import("../../process/made-token.ts");
  try {
    const file = madeTokenFile(cli);
    return { madeToken: await makeToken(file), madeIn: file };
  } catch (error) {
    if (!isRepriseError(error, "config_invalid")) {
      throw error;
    }
    // only the first of the processes that share a port says it
    if (process === 1) {
      const sentence = `${error.message} Until then the service runs, answers and changes nothing over HTTP; it only reads, creates and ends sessions, and takes messages.`;
      log({ level: "warn", event: "notice", sentence });
    }
    return NONE;
  }
}

async function tokenIn(
  cli: CliContext,
  file: string | undefined,
  otherwise?: string,
): Promise<string | undefined> {
  const text = file === undefined ? otherwise : await readTokenFile(resolve(cli.cwd, file));
  const token = text?.trim();
  if (token !== undefined && !/^[\x21-\x7e]{1,1024}$/.test(token)) {
    throw new RepriseError(
      "config_invalid",
      "The token must be 1 to 1,024 visible ASCII characters without spaces; make one with `openssl rand -hex 32`.",
    );
  }
  return token;
}

async function readTokenFile(path: string): Promise<string> {
  try {
    const bytes = await readLimited(path, MAX_LINE_FILE_BYTES);
    if (bytes !== null) {
      return bytes.toString("utf8");
    }
  } catch (cause) {
    const sentence = "The token file cannot be read; check its path.";
    throw new RepriseError("config_invalid", sentence, { cause });
  }
  throw new RepriseError(
    "config_invalid",
    "The token file is larger than 64 KiB; name one with a token.",
  );
}
