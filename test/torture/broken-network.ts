import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { EventSource } from "eventsource";

import { type Client, createClient } from "../../src/client/client.ts";
import { ClientError } from "../../src/client/client-error.ts";
import type { MessageInfo } from "../../src/core/schemas/schemas.ts";
import { type Break, startBreakingProxy } from "../helpers/breaking-proxy.ts";
import { startService } from "./service.ts";

export interface BrokenNetworkOptions {
  /** A separate file for the service. */
  readonly database: string;
  readonly messages: number;
  /** The least number of breaks that each reader has to live through. */
  readonly breaks: number;
  readonly random: () => number;
  readonly reader: "client" | "EventSource";
}

export interface BrokenNetworkFigures {
  readonly messages: number;
  readonly breaks: Readonly<Record<Break, number>>;
  /** Appends that had to be sent again because their answer was lost. */
  readonly retries: number;
}

const MEAN_EVENT_BYTES = 620;
const STALL_MS = 300;

/**
 * Starts the service and follows a session through a proxy that breaks connections, while another process appends to the
 * database and this one posts through the same proxy, repeating what was not answered. Throws
 * unless every message came once, in order and whole.
 */
export async function followThroughBreaks(
  options: BrokenNetworkOptions,
): Promise<BrokenNetworkFigures> {
  const { database, messages, breaks, random } = options;
  let url = "";
  await using proxy = await startBreakingProxy({
    target: () => url,
    random,
    // a connection gets at most twice the mean, so even the longest ones are broken often enough
    meanBytes: Math.ceil((messages * MEAN_EVENT_BYTES) / (breaks * 4)),
    stallMs: STALL_MS,
  });
  // answers are short: some get through on one connection, then one is lost
  await using postProxy = await startBreakingProxy({
    target: () => url,
    random,
    meanBytes: 2000,
    stallMs: STALL_MS,
  });
  const args = ["--stream-poll-ms", "50", "--allow-host", ...hostsOf(proxy, postProxy)];
  await using service = await startService({ database, args });
  url = service.url;
  const direct = createClient({ baseUrl: url });
  const { id } = await direct.createSession();
  // enough that answers are lost, however few messages there are
  const posts = Math.max(30, Math.ceil(messages / 50));
  const reading = readers[options.reader]({ url: proxy.url, id, messages });
  reading.catch(() => undefined);
  const [, retries] = await Promise.all([
    appendElsewhere(options, { id, count: messages - posts }),
    postThrough(createClient({ baseUrl: postProxy.url }), { id, count: posts }),
  ]);
  await direct.endSession(id);
  const received = await reading;
  const { breaks: broken } = proxy;
  assert.deepEqual(
    received.map(({ seq }) => seq),
    Array.from({ length: messages }, (_, index) => index + 1),
    "every position came once and in order",
  );
  assert.equal(new Set(received.map(beginningOf)).size, messages, "no message is there twice");
  await compareWithTable(direct, received);
  const total = broken.cut + broken.reset + broken.stall;
  assert.ok(total >= breaks, `${total} breaks are fewer than the ${breaks} asked for`);
  return { messages: received.length, breaks: broken, retries };
}

function hostsOf(...proxies: readonly { readonly url: string }[]): string[] {
  return proxies.map(({ url }) => new URL(url).host);
}

function beginningOf({ content }: MessageInfo): string {
  return content.split(" ", 2).join(" ");
}

/** What was streamed is what is read page by page without the proxy. */
async function compareWithTable(client: Client, received: readonly MessageInfo[]): Promise<void> {
  const id = received[0]?.session_id ?? "";
  for (let before = received.length + 1; before > 1;) {
    const page = await client.getSession(id, { before_seq: before });
    const first = page.messages[0]?.seq ?? 1;
    assert.deepEqual(received.slice(first - 1, before - 1), page.messages);
    before = first;
  }
}

interface Reading {
  readonly url: string;
  readonly id: string;
  readonly messages: number;
}

const readers = {
  client: async ({ url, id }: Reading): Promise<readonly MessageInfo[]> => {
    const received: MessageInfo[] = [];
    const client = createClient({ baseUrl: url });
    const pauseMs = { first: 2, longest: 50 };
    // shorter than the proxy's silence: the reader has to notice by itself
    for await (const message of client.followSession(id, { pauseMs, silenceMs: STALL_MS / 2 })) {
      received.push(message);
    }
    return received;
  },
  EventSource: ({ url, id, messages }: Reading): Promise<readonly MessageInfo[]> => {
    const received: MessageInfo[] = [];
    const source = new EventSource(`${url}/api/sessions/${id}/stream`, { fetch: fetchWithRetry });
    return new Promise((resolve) => {
      source.addEventListener("message", ({ data }) => {
        received.push(JSON.parse(data) as MessageInfo);
        if (received.length === messages) {
          source.close();
          resolve(received);
        }
      });
    });
  },
} as const;

/** As the service's stream, with a pause before reconnecting of 5 ms instead of 3 s. */
async function fetchWithRetry(input: string | URL, init: RequestInit): Promise<Response> {
  const answer = await fetch(input, init);
  const retry = new TransformStream<Uint8Array, Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from("retry: 5\n\n")),
  });
  const body = answer.status === 200 ? (answer.body?.pipeThrough(retry) ?? null) : null;
  const { status, headers } = answer;
  // a constructed Response has no URL, which EventSource takes the origin of
  return Object.defineProperty(new Response(body, { status, headers }), "url", {
    value: answer.url,
  });
}

/** Another process writes straight into the database: the service has to notice. */
async function appendElsewhere(
  { database }: BrokenNetworkOptions,
  { id, count }: { readonly id: string; readonly count: number },
): Promise<void> {
  const program = fileURLToPath(new URL("../fixtures/programs/network-append.ts", import.meta.url));
  const args = [program, database, id, String(count), "32", "elsewhere"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  await once(child, "close");
  assert.equal(child.exitCode, 0);
}

/** Posts through the proxy until each is acknowledged. Returns how often it had to try again. */
async function postThrough(
  client: Client,
  { id, count }: { readonly id: string; readonly count: number },
): Promise<number> {
  let retries = 0;
  for (let index = 0; index < count; index += 1) {
    const content = `posted ${index} through the proxy`;
    for (let acknowledged = false; !acknowledged;) {
      try {
        await client.postMessage(id, content, { idempotencyKey: `key-${index}` });
        acknowledged = true;
      } catch (error) {
        if (!(error instanceof ClientError && isWorthARepeat(error))) {
          throw error;
        }
        retries += 1;
      }
    }
  }
  return retries;
}

function isWorthARepeat({ code }: ClientError): boolean {
  return code === "unreachable" || code === "bad_answer";
}
