import { CODE_MS, codePath } from "../../../core/access.ts";
import { isRepriseError } from "../../../core/errors.ts";
import { addLoginCode } from "../../../store/records/access/logins.ts";
import { hashOf, newSecret } from "../../../store/records/access/secrets.ts";
import type { Store } from "../../../store/store.ts";

interface PageService {
  readonly store: Store;
  readonly url: string;
  readonly publicPath?: string;
  /** False if the service has no page. */
  readonly page: boolean;
  readonly token: string | undefined;
  readonly madeToken: string | undefined;
  /** The number of this process among those that share a port. */
  readonly process?: number;
  /** True if a terminal shows what is printed. */
  readonly shown: boolean;
}

/**
 * The line with the address that opens the page and logs the browser in, once. With a token that somebody set only a
 * terminal gets it: elsewhere the output is a log, which may have other readers than the token. None if the database
 * takes no code; the page takes the token too.
 */
export async function pageLines({
  store,
  url,
  publicPath = "",
  token,
  madeToken,
  process = 1,
  shown,
  page,
}: PageService): Promise<readonly string[]> {
  const isForReader = madeToken !== undefined || (token !== undefined && shown);
  // only the first of the processes that share a port prints it
  if (!page || !isForReader || process !== 1) {
    return [];
  }
  const code = newSecret();
  try {
    await store.write(addLoginCode, { hash: hashOf(code) });
  } catch (error) {
    if (isRepriseError(error)) {
      return [];
    }
    throw error;
  }
  const address = `${pageAddress(url, publicPath)}${codePath(code)}`;
  return [`page ${address} (logs in once, within ${CODE_MS / 60_000} minutes)`];
}

/**
 * Where a browser of this machine finds the page: a service that listens on all addresses is there at its loopback
 * address, too.
 */
export function pageAddress(url: string, publicPath = ""): string {
  const reachable = url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
  return `${reachable}${publicPath}`;
}
