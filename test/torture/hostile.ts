import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";

import fc from "fast-check";

import { isErrorCode, type Refusal } from "./refusal.ts";
import { type HostileRequest, hostileRequests, requestOfEachStatus } from "./hostile-requests.ts";
import { createAnswerCheck, readApi } from "./openapi.ts";
import { createWire, STREAM, type Wire, type WireAnswer, type WireRequest } from "./wire.ts";

export interface HostileFigures {
  readonly requests: number;
  /** How many answers to random requests had each status. */
  readonly statuses: Readonly<Record<string, number>>;
}

export interface HostileOptions {
  readonly url: string;
  readonly requests: number;
  /** Of the service; it has none if this is not given. */
  readonly token?: string;
  /** Random by default. A failure prints it. */
  readonly seed?: number;
}

/** Requests in flight at once, each on a separate connection. */
const SIDE_BY_SIDE = 16;

/** Every marker, from any sender: none may ever be in the log. */
export const ANY_MARKER = /zq[0-9a-f]{16}/;

/**
 * Sends hostile requests and checks every answer: no 5xx, every refusal a problem with a known
 * code, nothing of the request in an error or a header, everything as the OpenAPI document says.
 * The service works on afterwards. fast-check prints seed and path of a failure and shrinks it.
 */
export async function sendHostileRequests(options: HostileOptions): Promise<HostileFigures> {
  const { url, requests, token = null } = options;
  const headers: Record<string, string> =
    token === null ? {} : { authorization: `Bearer ${token}` };
  const document = await readApi(url, headers);
  const check = createAnswerCheck(document);
  const ids = [await newSession(url, headers), await newSession(url, headers)];
  const deletable = await newSession(url, headers);
  await fetch(`${url}/api/sessions/${ids[1]}/end`, { method: "POST", headers });
  const host = new URL(url).host;
  const wires = Array.from({ length: SIDE_BY_SIDE }, () => createWire(url));
  const statuses: Record<string, number> = {};
  let sent = 0;
  const sendOne = async (wire: Wire, request: HostileRequest): Promise<readonly number[]> => {
    const marker = `zq${randomBytes(8).toString("hex")}`;
    const rendered = request.render(marker);
    const answers = await wire.send(rendered);
    sent += 1;
    assert.notEqual(answers.length, 0, `no answer to ${textOf(rendered)}`);
    for (const answer of answers) {
      const fault = faultOf(answer, { request, marker, check });
      assert.equal(
        fault,
        null,
        `${fault}, with status ${answer.status}, after ${textOf(rendered)}`,
      );
    }
    return answers.map(({ status }) => status);
  };
  const batch = fc.array(hostileRequests(document, { host, ids, deletable, token }), {
    minLength: SIDE_BY_SIDE,
    maxLength: SIDE_BY_SIDE,
  });
  try {
    const examples = requestOfEachStatus({ host, ids, deletable, token });
    for (const [status, request] of examples) {
      assert.deepEqual(await sendOne(wires[0]!, request), [status]);
    }
    await fc.assert(
      fc.asyncProperty(batch, async (drawn) => {
        const sending = wires.map((wire, index) => sendOne(wire, drawn[index]!));
        // a failure is tried again with less: by then nothing of it may be on its way
        const settled = await Promise.allSettled(sending);
        if (settled.some((each) => each.status === "rejected")) {
          for (const wire of wires) {
            wire.close();
          }
        }
        for (const status of (await Promise.all(sending)).flat()) {
          statuses[status] = (statuses[status] ?? 0) + 1;
        }
      }),
      {
        numRuns: Math.ceil(requests / SIDE_BY_SIDE),
        ...(options.seed === undefined ? {} : { seed: options.seed }),
      },
    );
  } finally {
    for (const wire of wires) {
      wire.close();
    }
  }
  assert.equal((await fetch(`${url}/readyz`)).status, 200);
  return { requests: sent, statuses };
}

function textOf({ bytes }: WireRequest): string {
  return Buffer.from(bytes).toString("latin1").slice(0, 2000);
}

async function newSession(url: string, headers: Record<string, string>): Promise<string> {
  const answer = await fetch(`${url}/api/sessions`, { method: "POST", headers });
  return ((await answer.json()) as { id: string }).id;
}

interface Sent {
  readonly request: HostileRequest;
  readonly marker: string;
  readonly check: ReturnType<typeof createAnswerCheck>;
}

/** What is wrong with an answer, in words; null if nothing is. */
function faultOf(answer: WireAnswer, { request, marker, check }: Sent): string | null {
  const { status, head, body } = answer;
  if (status >= 500) {
    return `status ${status}`;
  }
  const isMcp = request.call?.template === "/mcp";
  if (head.includes(marker) || (status >= 400 && withoutId(body, isMcp).includes(marker))) {
    return "the answer repeats what was sent";
  }
  if (!answer.headers.has("x-request-id")) {
    return "the answer has no id";
  }
  const type = (answer.headers.get("content-type") ?? "").replace(/;.*$/, "");
  const value = body === "" || body === STREAM ? null : valueOf(type, body);
  if (status >= 400 && value !== null) {
    const problem = value as Refusal;
    const isProblem =
      type === "application/problem+json" && isErrorCode(problem.code) && problem.status === status;
    if (isProblem) {
      return check.problem(value);
    }
    // after the gate, MCP has refusals of its protocol
    if (!isMcp || !isRpcError(value)) {
      return "the refusal is not a problem";
    }
  }
  return request.call === null ? null : check.answer(request.call, { status, type, value });
}

/** An answer of JSON-RPC has the id of its request. */
function withoutId(body: string, isMcp: boolean): string {
  return isMcp && body.startsWith('{"jsonrpc"')
    ? JSON.stringify({ ...JSON.parse(body), id: null })
    : body;
}

/** True for an error of JSON-RPC 2.0. */
function isRpcError(value: unknown): boolean {
  const { jsonrpc, error } = Object(value) as { jsonrpc?: unknown; error?: { code?: unknown } };
  return jsonrpc === "2.0" && Number.isInteger(error?.code);
}

function valueOf(type: string, body: string): unknown {
  return type.endsWith("json") ? JSON.parse(body) : body;
}
