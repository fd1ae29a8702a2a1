import { type Client, createClient } from "../../src/client/client.ts";
import type { Running } from "./process.ts";
import type { Home } from "./reprise.ts";

export interface PageService {
  readonly service: Running;
  readonly url: string;
  readonly client: Client;
}

export const PAGE_TOKEN = "the-token-of-tests";

/** Starts `reprise serve` with its page and the same token as any time before. */
export async function startPageService(
  home: Home,
  args: readonly string[] = [],
): Promise<PageService> {
  const service = home.start(["serve", "--port", "0", ...args], {
    env: { REPRISE_TOKEN: PAGE_TOKEN },
  });
  const [, url = ""] = await service.waitFor(/^listening on (\S+)$/m);
  return { service, url, client: createClient({ baseUrl: url, token: PAGE_TOKEN }) };
}
