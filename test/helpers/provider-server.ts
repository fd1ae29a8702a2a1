import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";

export interface ProviderRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A provider on loopback that answers every call the same way, and keeps what it was sent. */
export async function startFixedProvider(answer: {
  readonly status: number;
  readonly body: unknown;
}): Promise<AsyncDisposable & { readonly url: string; readonly requests: ProviderRequest[] }> {
  const requests: ProviderRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      requests.push({ path: request.url ?? "", headers: request.headers, body });
      response.writeHead(answer.status, { "content-type": "application/json" });
      response.end(JSON.stringify(answer.body));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") {
    throw new Error("no port");
  }
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** A loopback address that nothing listens on: a server had it a moment ago. */
export async function refusedUrl(): Promise<string> {
  await using provider = await startFixedProvider({ status: 200, body: {} });
  return provider.url;
}
