import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { createFeed } from "../src/exchange/live/feed.ts";
import { startServer } from "../src/http/serve.ts";
import { openSqliteStore } from "../src/store/engines/sqlite/open.ts";
import { takeLease } from "../src/store/records/leases/lease.ts";
import { thisProcess } from "../src/store/records/leases/this-process.ts";
import { beginExchange } from "../src/store/records/messages/begin-exchange.ts";
import { mirrorMessages } from "../src/store/records/messages/mirror.ts";
import { storeOf } from "../src/store/store-of.ts";
import { tokenAt } from "./token-model.ts";

/**
 * What `web` measures: a service with its page. The session `--talk` gets tokens all the time, in answers that are
 * stored once they are long.
 */
const { values } = parseArgs({
  options: {
    database: { type: "string", default: "" },
    page: { type: "string", default: "" },
    talk: { type: "string", default: "" },
    tokens: { type: "string", default: "1000" },
  },
});
/** Tokens of an answer. */
const ANSWER = 2000;
const BEAT_MS = 10;

const opened = await openSqliteStore({ path: values.database });
const store = storeOf(opened);
const feed = createFeed({ store });
const server = await startServer({
  store: opened,
  version: "0",
  host: "127.0.0.1",
  port: 0,
  live: feed,
  page: values.page,
});

async function talk(session_id: string): Promise<void> {
  const owner = thisProcess("bench");
  const { epoch } = await store.write(takeLease, { session_id, owner, life_ms: 3_600_000 });
  const fence = { session_id, epoch };
  const exchange = { content: "Hello", model: "demo:echo", persona_name: null };
  await store.write(beginExchange, { fence, ...exchange });
  const { begun, heard } = feed.open(session_id);
  begun({ n: 1, epoch });
  for (let answer = 1; ; answer += 1) {
    const message_id = `answer ${answer}`;
    const content = await speak((text) =>
      heard({ type: "text", exchange_id: session_id, session_id, message_id, text }),
    );
    const message = { message_id, role: "assistant", content, tool_calls: null } as const;
    const messages = [{ ...message, token_count: ANSWER, is_summary: false, usage: null }];
    const [stored] = await store.write(mirrorMessages, { session_id, fence, messages });
    const said = { message_id, call_id: null, seq: stored?.seq ?? 0, role: "assistant" } as const;
    heard({ type: "message", exchange_id: session_id, session_id, ...said, is_summary: false });
  }
}

/** One answer at a steady rate; the whole of it. */
async function speak(hear: (text: string) => void): Promise<string> {
  const begun = performance.now();
  const said: string[] = [];
  while (said.length < ANSWER) {
    const due = ((performance.now() - begun) / 1000) * Number(values.tokens);
    while (said.length < Math.min(due, ANSWER)) {
      const text = tokenAt(said.length);
      said.push(text);
      hear(text);
    }
    await sleep(BEAT_MS);
  }
  return said.join("");
}

console.log(`listening on ${server.url}`);
if (values.talk !== "") {
  await talk(values.talk);
}
