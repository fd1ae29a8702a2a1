import fc from "fast-check";

/** A placeholder in every generated text for the request's marker, which is known only when it is sent. */
export const MARK = "ZQMARK";

/** What requests for a route are made of besides what the OpenAPI document says: nearly valid parts of them. */
export interface HostileEntry {
  readonly queries?: readonly string[];
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** JSON values; one part of each is replaced. */
  readonly bodies?: readonly unknown[];
}

const HUGE = "9".repeat(15);

/** Ids of events of the live feed, of positions that no session here has. */
const POSITIONS = [
  "0.0.0.0.811c9dc5.0.-",
  "1.1.1.3.00000000.1.a",
  `${HUGE}.${HUGE}.${HUGE}.${HUGE}.ffffffff.${HUGE}.${MARK}`,
  `0.1.1.${HUGE}.811c9dc5.0.%F0%9F%98%80`,
  `0.1.1.1.811c9dc5.0.${MARK}%00`,
  `0.1.1.1.811c9dc5.0.%ED%A0%80${MARK}`,
  `0.1.1.1.811c9dc5.0.${"a".repeat(4096)}`,
  `0.1.1.1.811c9dc5.0.a,0.1.1.1.811c9dc5.0.${MARK}`,
];

const PAGES = ["?limit=1", "?limit=200&all=true", `?after_seq=${HUGE}`, `?before_seq=1&order=desc`];
const LABELS = { [MARK]: MARK, __proto__: null, constructor: "1" };
const LIMITS = { exchange: 1, session: 2, tree: 3 };
const UNDO = { dry_run: true, files: [MARK, `../${MARK}`, "a/../b", "/", `${MARK}\0`] };
const PART = { type: "text", text: MARK };
const APPROVAL = { id: "00000000-0000-4000-8000-000000000000", approved: true, reason: MARK };

/** A history of another session, with a call that nobody made, its result and an answer to no question. */
const AI_SDK = {
  id: MARK,
  trigger: "submit-message",
  messages: [
    { id: "m1", role: "system", parts: [PART] },
    {
      id: "m2",
      role: "assistant",
      parts: [
        { type: "step-start" },
        { type: "dynamic-tool", toolCallId: "c", state: "output-available", output: MARK },
        { type: "dynamic-tool", toolCallId: "c", state: "approval-responded", approval: APPROVAL },
      ],
    },
    { id: MARK, role: "user", parts: [PART, PART] },
  ],
};

const AG_UI = {
  threadId: MARK,
  runId: "r",
  state: { a: MARK },
  tools: [],
  context: [],
  forwardedProps: {},
  messages: [
    { id: "m1", role: "developer", content: MARK },
    { id: "m2", role: "tool", toolCallId: "c", content: MARK },
    { id: MARK, role: "user", content: [PART] },
  ],
};

/** A plan that is valid once its parts are not replaced. */
const PLAN_RUN = {
  plan: {
    text: JSON.stringify({
      runId: "00000000-0000-4000-8000-000000000000",
      phaseKey: "planning",
      phases: [{ key: "a", title: MARK, role: "assistant", instructions: "at least ten" }],
    }),
    syntax: "json",
  },
  repo_path: `/${MARK}`,
  approve: ["a", MARK],
  parallel: 2,
  retries: 1,
  token_limits: LIMITS,
  permission: "ask",
  model: MARK,
};

const LOGIN = `00000000-0000-4000-8000-000000000000.${"A".repeat(43)}`;
const COOKIES = [
  ["x-reprise-page", "1"],
  ["cookie", `reprise-80=${LOGIN}; __Host-reprise=${MARK}`],
  ["cookie", `${"reprise-80=a; ".repeat(500)}${MARK}`],
] as const;

/** Headers that a request of MCP says again what its body says. */
const MCP_HEADERS = [
  ["accept", "application/json, text/event-stream"],
  ["mcp-protocol-version", MARK],
  ["mcp-protocol-version", "2026-07-28"],
  ["mcp-method", MARK],
  ["mcp-name", MARK],
  ["mcp-session-id", MARK],
] as const;

const MCP_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: MARK, version: MARK },
  "io.modelcontextprotocol/clientCapabilities": { [MARK]: MARK },
};

/** Messages of both eras of MCP, and a batch. */
const MCP_BODIES = [
  { jsonrpc: "2.0", id: 1, method: MARK, params: { _meta: MCP_META } },
  {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "session_search", arguments: { q: MARK, [MARK]: 1 } },
  },
  {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: MARK,
      capabilities: {},
      clientInfo: { name: MARK, version: MARK },
    },
  },
  [
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: MARK, arguments: {} } },
    { jsonrpc: "2.0", id: MARK, result: { [MARK]: MARK } },
    { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: MARK } },
  ],
];

/** For each route of the service: a test compares them, so that none is left out. */
export const HOSTILE_ENTRIES: Readonly<Record<string, HostileEntry>> = {
  "DELETE /api/sessions/{id}": { headers: [["if-match", '"1"']] },
  "DELETE /api/sessions/{id}/exchanges/{n}": { headers: [["if-match", '"1"']] },
  "DELETE /api/access/{id}": {},
  "DELETE /api/sessions/{id}/shares/{share}": {},
  "GET /api/access": {},
  "GET /api/queue": {},
  "GET /api/artifacts/schemas": {},
  "GET /api/artifacts/schemas/{group}/{name}": {},
  "GET /api/artifacts/schemas/{id}": {},
  "GET /api/doctor": {},
  "GET /api/events": {
    queries: [`?include=${MARK}`],
    headers: [
      ["last-event-id", HUGE],
      ["last-event-id", `01234567-${HUGE}`],
      ["last-event-id", `${"-".repeat(8)}-0`],
      ["last-event-id", `01234567-0${MARK}`],
    ],
  },
  "GET /api/models": {},
  "POST /api/models/refresh": {},
  "GET /api/nodes": {},
  "GET /api/personas": { queries: ["?repo_path=/", `?repo_path=/${MARK}/%00`, "?repo_path=//.."] },
  "GET /api/stats": {
    queries: [`?by=${MARK}`, `?by=day&since=${MARK}`, `?by=day&since=${HUGE}`, "?by=day&by=model"],
  },
  "GET /api/search": {
    queries: [
      `?q=${MARK}`,
      "?q=%22%22",
      "?q=a%20NEAR(b)*&cursor=W10",
      `?q=x&since=${MARK}`,
      `?q=${HUGE}`,
    ],
  },
  "GET /api/sessions": {
    queries: [
      "?limit=1&cursor=eyJhIjoxfQ",
      `?metadata=${MARK}:${MARK}&archived=false&roots=true`,
      "?metadata=__proto__:1&metadata=a:b",
      `?title=%25_%5C${MARK}&order=created`,
      "?parent=00000000-0000-4000-8000-000000000000&activity=idle&repo_path=/",
    ],
  },
  "GET /api/sessions/{id}": { queries: [`?before_seq=${HUGE}`] },
  "GET /api/sessions/{id}/changes": { queries: [`?n=${HUGE}`] },
  "GET /api/sessions/{id}/exchanges": { queries: [`?before_n=${HUGE}`] },
  "GET /api/sessions/{id}/exchanges/{n}": {},
  "GET /api/sessions/{id}/exchanges/{n}/changes": {},
  "GET /api/sessions/{id}/export": {},
  "GET /api/sessions/{id}/live": {
    queries: [`?after_seq=${HUGE}`, "?all=true&after_seq=0"],
    headers: POSITIONS.map((id) => ["last-event-id", id] as const),
  },
  "GET /api/sessions/{id}/messages": { queries: PAGES },
  "GET /api/sessions/{id}/questions": { queries: [`?answered=${MARK}`] },
  "GET /api/sessions/{id}/reasoning": { queries: [...PAGES, `?max_bytes=${HUGE}`] },
  "GET /api/sessions/{id}/shares": {},
  "GET /api/sessions/{id}/stream": {
    queries: [`?last_seq=${HUGE}`],
    headers: [["last-event-id", HUGE]],
  },
  "GET /api/sessions/{id}/ui/ai-sdk": {},
  "GET /api/sessions/{id}/verify": {},
  "GET /livez": {},
  "GET /metrics": {},
  "GET /openapi.json": { headers: [["if-none-match", `"${MARK}"`]] },
  "GET /page/me": { headers: COOKIES },
  "GET /readyz": {},
  "PATCH /api/sessions/{id}": {
    bodies: [
      { name: MARK, model: "demo:echo", persona_name: "default", plan_mode: true, archived: true },
      { metadata: LABELS, token_limits: LIMITS, repo_path: `/${MARK}` },
    ],
  },
  "PATCH /api/sessions/{id}/exchanges/{n}": {
    headers: [["if-match", "1"]],
    bodies: [{ content: MARK }],
  },
  "POST /api/artifacts/plan": { bodies: [{ text: MARK, syntax: "yaml" }] },
  "POST /api/artifacts/validate": {
    bodies: [{ artifact: { runId: MARK, phaseKey: "planning", phases: [] } }],
  },
  "GET /api/plan-runs": {
    queries: ["?limit=1&cursor=eyJhIjoxfQ", "?state=done&limit=200", `?state=${MARK}`],
  },
  "GET /api/plan-runs/{id}": {},
  "GET /api/plan-runs/{id}/report": { headers: [["accept", `application/${MARK}`]] },
  "POST /api/plan-runs": { headers: [["idempotency-key", MARK]], bodies: [PLAN_RUN] },
  "POST /api/plan-runs/{id}/resume": { bodies: [{ retry: [MARK, "__proto__"] }, {}] },
  "POST /mcp": { headers: MCP_HEADERS, bodies: MCP_BODIES },
  "POST /api/sessions": {
    headers: [["idempotency-key", MARK]],
    bodies: [
      { persona_name: MARK, model_override: "demo:echo", repo_path: "/", metadata: LABELS },
      { token_limits: LIMITS },
    ],
  },
  "POST /api/sessions/{id}/end": {},
  "POST /api/sessions/{id}/fork": {
    headers: [["idempotency-key", MARK]],
    bodies: [{ at_seq: 1 }, { at_seq: Number(HUGE) }, {}],
  },
  "POST /api/sessions/{id}/exchanges": {
    headers: [["idempotency-key", MARK]],
    bodies: [{ content: MARK, supersede: true }],
  },
  "POST /api/sessions/{id}/exchanges/{n}/redo": { bodies: [UNDO] },
  "POST /api/sessions/{id}/exchanges/{n}/stop": { bodies: [{}] },
  "POST /api/sessions/{id}/exchanges/{n}/undo": { bodies: [UNDO] },
  "POST /api/sessions/{id}/shares": { bodies: [{ expires_in_days: 1 }] },
  "POST /api/sessions/{id}/messages": { bodies: [{ content: MARK }] },
  "POST /api/sessions/{id}/questions/{q}/answer": {
    bodies: [{ choice: "allow_once", note: MARK }],
  },
  "POST /api/sessions/{id}/ui/ag-ui": {
    bodies: [
      AG_UI,
      {
        ...AG_UI,
        messages: [],
        resume: [{ interruptId: MARK, status: "resolved", payload: MARK }],
      },
    ],
  },
  "POST /api/sessions/{id}/ui/ai-sdk": {
    bodies: [AI_SDK, { messages: AI_SDK.messages.slice(0, 2) }],
  },
  "POST /page/login": {
    headers: COOKIES,
    bodies: [{ code: MARK }, { token: MARK }, { share: MARK }],
  },
  "POST /page/logout": { headers: COOKIES },
};

const HOLE = "ZQHOLE";

/** One of these values as JSON, as it is or with one part replaced by another JSON text. */
export function nearly(
  bodies: readonly unknown[],
  other: () => fc.Arbitrary<string>,
): fc.Arbitrary<string> {
  const texts = bodies.flatMap((body) => [JSON.stringify(body), ...withHoles(body)]);
  return fc
    .tuple(fc.constantFrom(...texts), other())
    .map(([text, part]) => text.split(`"${HOLE}"`).join(part));
}

/** The value as JSON with a hole, for each of its parts. */
function withHoles(value: unknown): string[] {
  if (typeof value !== "object" || value === null) {
    return [`"${HOLE}"`];
  }
  const isList = Array.isArray(value);
  const inside = Object.entries(value).flatMap(([name, part]) =>
    withHoles(part).map((text) => {
      const hole: unknown = JSON.parse(text);
      return JSON.stringify(isList ? value.with(Number(name), hole) : { ...value, [name]: hole });
    }),
  );
  return [`"${HOLE}"`, ...inside];
}
