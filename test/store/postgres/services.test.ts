import { describe, expect, it, onTestFinished } from "vitest";

import { createClient } from "../../../src/client/client.ts";
import type { MessageInfo } from "../../../src/core/schemas/schemas.ts";
import { createPostgres } from "../../helpers/postgres.ts";
import { testSize } from "../../helpers/size.ts";
import { type Service, startService } from "../../torture/service.ts";

const WRITERS = 64;

describe.each([
  { hints: "on", pollMs: 60_000 },
  { hints: "off", pollMs: 50 },
])("two services on one database, hints $hints", ({ hints, pollMs }) => {
  it("[PG-9] [PG-11] readers at both get every message of 64 writers at both, in order and once", async () => {
    const nodes = await startNodes(`?hints=${hints}`, ["--stream-poll-ms", String(pollMs)]);
    const clients = nodes.map(({ url }) => createClient({ baseUrl: url }));
    const { id } = await clients[0]!.createSession();
    const reading = clients.flatMap((client) => [1, 2].map(() => readAll(client, id)));
    const each = testSize("nodes");

    const acknowledged = await Promise.all(
      Array.from({ length: WRITERS }, async (_, writer) => {
        const client = clients[writer % clients.length]!;
        const lines: string[] = [];
        for (let index = 0; index < each; index += 1) {
          const content = `writer ${writer} message ${index}`;
          lines.push(`${(await client.postMessage(id, content)).seq} ${content}`);
        }
        return lines;
      }),
    );
    await clients[1]!.endSession(id);

    const total = WRITERS * each;
    const said = acknowledged.flat().toSorted((a, b) => Number.parseInt(a) - Number.parseInt(b));
    expect(said.map((line) => Number.parseInt(line))).toEqual(
      Array.from({ length: total }, (_, index) => index + 1),
    );
    for (const messages of await Promise.all(reading)) {
      expect(messages.map(({ seq, content }) => `${seq} ${content}`)).toEqual(said);
    }
    // none of it by a failure that was made up for
    expect(nodes.map(({ log }) => log())).toEqual(["", ""]);
  });
});

async function startNodes(parameters: string, args: readonly string[]): Promise<Service[]> {
  const database = await createPostgres();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const options = { database: `${database.url}${parameters}`, args };
  const nodes = await Promise.all([startService(options), startService(options)]);
  onTestFinished(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
  });
  return nodes;
}

/** By one connection: the client library would make up for messages that a stream left out. */
async function readAll(
  client: ReturnType<typeof createClient>,
  id: string,
): Promise<readonly MessageInfo[]> {
  const messages: MessageInfo[] = [];
  const follow = {
    onLost: () => {
      throw new Error("a stream was cut");
    },
  };
  for await (const message of client.followSession(id, follow)) {
    messages.push(message);
  }
  return messages;
}
