import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { type Client, createClient } from "../../src/client/client.ts";
import { freePort } from "./free-port.ts";
import type { Running } from "./process.ts";
import type { Home } from "./reprise.ts";

export interface PageService {
  readonly service: Running;
  readonly url: string;
  readonly client: Client;
}

export const PAGE_TOKEN = "the-token-of-tests";
/** Reads, and changes nothing. */
export const READ_TOKEN = "the-read-token-of-tests";

interface PageServiceOptions {
  /** Where its agent works. */
  readonly folder: string;
  /** The same token as any time before; null for a service that makes its token. */
  readonly token?: string | null;
  /** Default: one that is free. */
  readonly port?: string;
  /** Runs on when the test is done: who started it stops it. */
  readonly isShared?: boolean;
}

/** Starts `reprise serve` with its page. */
export async function startPageService(
  home: Home,
  { folder, token = PAGE_TOKEN, port, isShared = false }: PageServiceOptions,
): Promise<PageService> {
  const file = join(home.home, "read-token");
  writeFileSync(file, READ_TOKEN, { mode: 0o600 });
  // one at which it can be started again
  const at = port ?? String(await freePort());
  const args = ["serve", "--port", at, "--repos", folder, "--read-token-file", file];
  const service = home.start(args, {
    isShared,
    env: token === null ? {} : { REPRISE_TOKEN: token },
  });
  const [, url = ""] = await service.waitFor(/^listening on (\S+)$/m);
  const client = createClient({ baseUrl: url, ...(token === null ? {} : { token }) });
  return { service, url, client };
}
