import fc from "fast-check";

import { HOSTILE_ENTRIES, type HostileEntry, MARK, nearly } from "./hostile-entries.ts";
import type { WireRequest } from "./wire.ts";
import {
  type ApiCall,
  type ApiDocument,
  type ApiSchema,
  callsOf,
  resolveSchema,
} from "./openapi.ts";
import { anyText } from "../helpers/any-text.ts";

/** A request that means harm. It is drawn once and rendered with its own marker. */
export interface HostileRequest {
  /** The call whose answers the document describes; null if it is none, or perhaps none. */
  readonly call: ApiCall | null;
  render(marker: string): WireRequest;
}

/** What requests may name that is there. */
export interface Known {
  readonly host: string;
  readonly ids: readonly string[];
  /** A session that may be deleted: the others are needed for all requests. */
  readonly deletable: string;
  /** Sent with each request; null if the service has none. */
  readonly token: string | null;
}

export function hostileRequests(document: ApiDocument, known: Known): fc.Arbitrary<HostileRequest> {
  return fc.oneof(
    {
      weight: 12,
      arbitrary: fc
        .constantFrom(...callsOf(document))
        .chain((call) => described(call, { document, known })),
    },
    { weight: 2, arbitrary: unknownRequests(known) },
    { weight: 1, arbitrary: brokenRequests(known) },
  );
}

/** A request for each status that refuses or accepts, so that a check of them needs no luck. */
export function requestOfEachStatus({
  host,
  ids: [active = "", ended = ""],
  token,
}: Known): ReadonlyMap<number, HostileRequest> {
  const request = (
    line: string,
    { headers = [], body = null }: Partial<Pick<RequestText, "headers" | "body">> = {},
  ): HostileRequest => ({
    call: null,
    render: (marker) =>
      render(marker, {
        line: `${line} HTTP/1.1`,
        host,
        token,
        headers,
        body,
        chunked: false,
        bodiless: false,
      }),
  });
  const textBody = (text: string, type = "application/json"): Body => ({
    type,
    bytes: (fill) => Buffer.from(fill(text)),
  });
  const create = "POST /api/sessions";
  return new Map([
    [200, request("GET /livez")],
    [201, request(create)],
    ...(token === null
      ? []
      : [
          [
            202,
            request(`POST /api/sessions/${active}/exchanges`, {
              body: textBody(`{"content":"${MARK}"}`),
            }),
          ] as const,
        ]),
    [204, request(`GET /api/sessions/${ended}/stream`)],
    [400, request(create, { body: textBody(`{"${MARK}"`) })],
    [403, request(create, { headers: [["origin", `http://${MARK}`]] })],
    [404, request(`GET /${MARK}`)],
    [405, request("PUT /api/sessions")],
    [
      409,
      request(`POST /api/sessions/${ended}/messages`, { body: textBody(`{"content":"${MARK}"}`) }),
    ],
    [415, request(create, { body: textBody(MARK, `text/${MARK}`) })],
    [422, request(create, { body: textBody(`{"${MARK}":1}`) })],
    [431, request("GET /livez", { headers: [["x-too-long", MARK.repeat(4000)]] })],
  ]);
}

const HOSTILE_TEXTS = [
  MARK,
  `${MARK}\0`,
  `\ud800${MARK}`,
  `${MARK}\udfff`,
  `${MARK}\r\nX-Injected: ${MARK}`,
  `${MARK}\n{"event":"failure"}`,
  `٣${MARK}`,
  "٣٤٥",
  "１２",
  `${MARK}😀👨‍👩‍👧‍👦`,
  `\u2028${MARK}\u2029\u0085`,
  `\u202e${MARK}`,
  `../../../${MARK}`,
  `/${MARK}/..//`,
  `%00${MARK}`,
  `\${${MARK}}`,
  `' OR 1=1 -- ${MARK}`,
  `%${MARK}_`,
  `<script>${MARK}</script>`,
  "__proto__",
  "constructor",
  "toString",
  "",
  " ",
  "true",
  "null",
  "-1",
  "1e3",
  "0x10",
  "9007199254740993",
  "1".repeat(400),
  MARK.repeat(200),
  "ffffff",
  "00000000-0000-4000-8000-000000000000",
];

const hostileText = (): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...HOSTILE_TEXTS) },
    {
      weight: 1,
      arbitrary: anyText({ maxLength: 40 }).map((text) => text + MARK),
    },
  );

/** A JSON text, since not every hostile one is a JSON value: doubled names, numbers without end. */
const hostileJson = (): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 5, arbitrary: hostileText().map((text) => JSON.stringify(text)) },
    {
      weight: 4,
      arbitrary: fc.constantFrom(
        "null",
        "true",
        "0",
        "-0",
        "1e999",
        "-1e999",
        "9".repeat(400),
        "0.1",
        "[]",
        "{}",
        `["${MARK}"]`,
        `{"${MARK}":"${MARK}"}`,
        `{"__proto__":{"${MARK}":1}}`,
        `{"constructor":{"prototype":{"${MARK}":1}}}`,
        "NaN",
        "undefined",
        `'${MARK}'`,
        `"${MARK}`,
        "",
      ),
    },
    {
      weight: 1,
      arbitrary: fc
        .integer({ min: 1, max: 3000 })
        .map((depth) => `${"[".repeat(depth)}"${MARK}"${"]".repeat(depth)}`),
    },
    {
      weight: 1,
      arbitrary: fc
        .integer({ min: 1, max: 1000 })
        .map((depth) => `${`{"${MARK}":`.repeat(depth)}1${"}".repeat(depth)}`),
    },
  );

interface Api {
  readonly document: ApiDocument;
  readonly known: Known;
}

/** A call of the document, with something wrong in any place of it. */
function described(call: ApiCall, api: Api): fc.Arbitrary<HostileRequest> {
  const entry = HOSTILE_ENTRIES[`${call.method} ${call.template}`] ?? {};
  const deletes = call.method === "DELETE" && call.template === "/api/sessions/{id}";
  const ids = deletes ? [api.known.deletable] : api.known.ids;
  return fc
    .record({
      head: fc.boolean().map((head) => head && call.method === "GET"),
      id: fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom(...ids) },
        {
          weight: 1,
          arbitrary: fc.constantFrom(...ids).map((id) => id.slice(0, 8).toUpperCase()),
        },
        { weight: 2, arbitrary: hostileText().map(percentEncode) },
      ),
      n: fc.oneof(
        { weight: 3, arbitrary: fc.integer({ min: 1, max: 9 }).map(String) },
        { weight: 1, arbitrary: hostileText().map(percentEncode) },
      ),
      q: fc.oneof(fc.uuid(), hostileText().map(percentEncode)),
      query: queryOf(call, entry),
      headers: headersOf(call, entry),
      body: bodyOf(call, entry, api.document),
      chunked: fc.boolean(),
    })
    .map(({ head, id, n, q, query, headers, body, chunked }) => ({
      // an empty id or number is another path, of a route that has one
      call: Object.entries({ id, n, q }).some(
        ([name, value]) => value === "" && call.template.includes(`{${name}}`),
      )
        ? null
        : call,
      render: (marker) =>
        render(marker, {
          line: `${head ? "HEAD" : call.method} ${pathOf(call.template, { id, n, q })}${query} HTTP/1.1`,
          host: api.known.host,
          token: api.known.token,
          headers,
          body,
          chunked,
          bodiless: head,
        }),
    }));
}

function pathOf(
  template: string,
  { id, n, q }: { readonly id: string; readonly n: string; readonly q: string },
): string {
  // functions: a text may hold what `replace` would take for a pattern
  return template
    .replace("{id}", () => id)
    .replace("{n}", () => n)
    .replace("{q}", () => q);
}

function queryOf(call: ApiCall, { queries = [] }: HostileEntry): fc.Arbitrary<string> {
  const names = (call.operation.parameters ?? [])
    .filter((each) => each.in === "query")
    .map(({ name }) => name);
  const pair = fc.tuple(
    names.length === 0 ? hostileText() : fc.oneof(fc.constantFrom(...names), hostileText()),
    fc.oneof(hostileText(), fc.constantFrom("1", "5", "true", "active", "0123456789abcdef")),
  );
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant("") },
    ...(queries.length === 0 ? [] : [{ weight: 3, arbitrary: fc.constantFrom(...queries) }]),
    {
      weight: 3,
      arbitrary: fc
        .array(pair, { minLength: 1, maxLength: 4 })
        .map((pairs) => `?${pairs.map((each) => each.map(percentEncode).join("=")).join("&")}`),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        `?%zz${MARK}`,
        `?limit=%ff%fe${MARK}`,
        `??&&==${MARK}`,
        `?${MARK}[]=1&${MARK}[x]=2`,
      ),
    },
  );
}

const HEADERS = [
  ["x-request-id", MARK],
  ["x-forwarded-for", MARK],
  ["x-forwarded-host", MARK],
  ["forwarded", `host=${MARK}`],
  ["x-http-method-override", "DELETE"],
  ["cookie", `a=${MARK}`],
  ["referer", `http://${MARK}/`],
  ["user-agent", MARK],
  ["accept", MARK],
  ["accept-encoding", "gzip, br"],
  ["accept-version", MARK],
  ["if-none-match", MARK],
  ["if-modified-since", MARK],
  ["range", "bytes=0-1"],
  ["te", "trailers"],
  ["trailer", MARK],
  ["expect", MARK],
  ["expect", "100-continue"],
  ["upgrade", "websocket"],
  // not "upgrade": after an offer, Node.js reports what it cannot read only when time is up
  ["connection", `keep-alive, ${MARK}`],
  ["content-encoding", "gzip"],
  ["content-encoding", MARK],
  ["authorization", `Bearer ${MARK}`],
  ["origin", "null"],
  ["origin", `http://${MARK}`],
  ["sec-fetch-site", "cross-site"],
  ["host", MARK],
  ["last-event-id", MARK],
  ["idempotency-key", MARK],
  ["if-match", MARK],
  ["content-type", MARK],
  [MARK, MARK],
  ["x-8bit", `\u00ff${MARK}`],
  ["x-long", MARK.repeat(500)],
  ["x-too-long", MARK.repeat(4000)],
] as const;

function headersOf(
  call: ApiCall,
  { headers: own = [] }: HostileEntry,
): fc.Arbitrary<readonly (readonly [string, string])[]> {
  const names = (call.operation.parameters ?? [])
    .filter((each) => each.in === "header")
    .map(({ name }) => name);
  const known = names.map((name) =>
    fc.oneof(hostileText(), fc.constantFrom("1", "0", "abc")).map((text) => [name, text] as const),
  );
  return fc.oneof(
    fc.constant([]),
    ...(own.length === 0 ? [] : [fc.constantFrom(...own).map((header) => [header])]),
    fc.array(fc.oneof(fc.constantFrom(...HEADERS), ...known), { minLength: 1, maxLength: 2 }),
  );
}

const CONTENT_TYPES = [
  "application/json",
  "application/json",
  "application/json",
  "application/json",
  "application/json",
  "application/json",
  "application/json",
  "application/json; charset=utf-8",
  `application/json; charset=${MARK}`,
  `text/${MARK}`,
  `multipart/form-data; boundary=${MARK}`,
  "",
] as const;

interface Body {
  readonly type: string;
  readonly bytes: (text: (template: string) => string) => Buffer;
}

function bodyOf(
  call: ApiCall,
  { bodies = [] }: HostileEntry,
  document: ApiDocument,
): fc.Arbitrary<Body | null> {
  const schema = call.operation.requestBody?.content["application/json"]?.schema;
  const any = schema === undefined ? hostileJson() : objectText(resolveSchema(document, schema));
  const text = bodies.length === 0 ? any : fc.oneof(any, nearly(bodies, hostileJson));
  const wrongBytes = fc.constantFrom<(bytes: Buffer) => Buffer>(
    (bytes) => bytes,
    (bytes) => bytes,
    (bytes) => bytes,
    (bytes) => Buffer.concat([bytes, Buffer.from([0xff])]),
    (bytes) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]),
    (bytes) => bytes.subarray(0, Math.ceil(bytes.length / 2)),
    (bytes) => Buffer.concat([bytes, bytes]),
    (bytes) => Buffer.from(bytes.toString("utf8"), "utf16le"),
    (bytes) => Buffer.concat([Buffer.from([0]), bytes]),
  );
  return fc.oneof(
    { weight: 1, arbitrary: fc.constant(null) },
    {
      weight: 8,
      arbitrary: fc
        .record({ text, type: fc.constantFrom(...CONTENT_TYPES), wrong: wrongBytes })
        .map(({ text, type, wrong }) => ({
          type,
          bytes: (fill: (template: string) => string) => wrong(Buffer.from(fill(text))),
        })),
    },
  );
}

/** An object of the schema's fields and others, doubled names included. */
function objectText(schema: ApiSchema): fc.Arbitrary<string> {
  const names = Object.keys(schema.properties ?? {});
  const field = fc.tuple(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...(names.length === 0 ? [MARK] : names)) },
      { weight: 1, arbitrary: hostileText() },
    ),
    fc.oneof(
      { weight: 3, arbitrary: hostileJson() },
      { weight: 3, arbitrary: fc.constantFrom(`"${MARK}"`, `"/${MARK}"`, '"a"', "null") },
    ),
  );
  return fc.oneof(
    {
      weight: 5,
      arbitrary: fc
        .array(field, { maxLength: 4 })
        .map(
          (fields) =>
            `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`,
        ),
    },
    { weight: 1, arbitrary: hostileJson() },
  );
}

/** Methods and paths that the service does not have, or has under another name. */
function unknownRequests({ host, ids, token }: Known): fc.Arbitrary<HostileRequest> {
  const path = fc.oneof(
    fc.constantFrom(
      "/",
      "//",
      "/api",
      "/api/sessions/",
      "/API/SESSIONS",
      "/api//sessions",
      "/api/sessions/../sessions",
      "/api/%73essions",
      `/api/sessions/${ids[0] ?? ""}/${MARK}`,
      `/${MARK}`,
      `/%${MARK}`,
      `/livez;${MARK}`,
      `/livez#${MARK}`,
      "*",
      `http://${host}/api/sessions`,
      `http://${MARK}/api/sessions`,
      `http://${host}`,
      `ftp://${host}/${MARK}`,
      `/${"a/".repeat(3000)}`,
      `/api/sessions/${MARK.repeat(100)}`,
      `/${"%41".repeat(3000)}${MARK}`,
    ),
    hostileText().map((text) => `/${percentEncode(text)}`),
  );
  const method = fc.constantFrom(
    "GET",
    "HEAD",
    "POST",
    "PUT",
    "DELETE",
    "PATCH",
    "OPTIONS",
    "TRACE",
    "PROPFIND",
    "M-SEARCH",
    "QUERY",
    "LINK",
  );
  return fc.record({ path, method }).map(({ path, method }) => ({
    call: null,
    render: (marker) =>
      render(marker, {
        line: `${method} ${path} HTTP/1.1`,
        host,
        token,
        headers: [["x-note", MARK]],
        body: null,
        chunked: false,
        bodiless: method === "HEAD",
      }),
  }));
}

/** Bytes that are not HTTP, or lie about their length; the service closes the connection after them. */
function brokenRequests({ host }: Known): fc.Arbitrary<HostileRequest> {
  const post = `POST /api/sessions HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n`;
  const get = `GET /livez HTTP/1.1\r\nHost: ${host}\r\n`;
  const body = `{"persona_name":"${MARK}"}`;
  return fc
    .constantFrom(
      `${MARK}\r\n\r\n`,
      `GET /${MARK}\r\n\r\n`,
      `GET /livez HTTP/9.9\r\nHost: ${MARK}\r\n\r\n`,
      `CONNECT ${MARK}:443 HTTP/1.1\r\nHost: ${MARK}:443\r\n\r\n`,
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      "\x16\x03\x01\x02\x00\x01\x00",
      "\0\0\0\0\r\n\r\n",
      `${get}${MARK}\r\n\r\n`,
      `${get}X-${MARK}: a\r\n folded ${MARK}\r\n\r\n`,
      `${get}X-${MARK} : a\r\n\r\n`,
      `${get}X: a\0${MARK}\r\n\r\n`,
      `GET /livez HTTP/1.1\r\nX: ${MARK}\r\n\r\n`,
      `${get}Host: ${MARK}\r\n\r\n`,
      `${get}${`X-${MARK}: y\r\n`.repeat(2000)}\r\n`,
      `${post}Content-Length: 1000\r\n\r\n${body}`,
      `${post}Content-Length: 5\r\n\r\n${body}`,
      `${post}Content-Length: -1\r\n\r\n${body}`,
      `${post}Content-Length: ${MARK}\r\n\r\n${body}`,
      `${post}Content-Length: 99999999999999999999\r\n\r\n${body}`,
      `${post}Content-Length: 2\r\nContent-Length: 30\r\n\r\n${body}`,
      `${post}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n${body}`,
      `${post}Transfer-Encoding: chunked, identity\r\n\r\n${body}`,
      `${post}Transfer-Encoding: ${MARK}\r\n\r\n${body}`,
      `${post}Transfer-Encoding: chunked\r\n\r\n${MARK}\r\n${body}`,
      `${post}Transfer-Encoding: chunked\r\n\r\n2\r\n{}${MARK}`,
      `${post}Transfer-Encoding: chunked\r\n\r\n2;${MARK}=1\r\n{}\r\n0\r\n${MARK}: trailer\r\n\r\n`,
      `${post}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}`,
      `${get}\r\n${get}\r\n${MARK}\r\n\r\n`,
      `${post}Content-Length: 2\r\n\r\n{}${get}\r\n`,
      `${get}\r\n`.repeat(50),
    )
    .map((text) => ({
      call: null,
      render: (marker) => ({
        // without this one, what was not broken would leave the connection open
        bytes: Buffer.from(
          `${text.replaceAll(MARK, marker)}${get}Connection: close\r\n\r\n`,
          "latin1",
        ),
        last: true,
        cutShort: text.includes("Content-Length: 1000\r\n"),
      }),
    }));
}

interface RequestText {
  readonly line: string;
  readonly host: string;
  readonly token: string | null;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Body | null;
  readonly chunked: boolean;
  readonly bodiless: boolean;
}

function render(marker: string, parts: RequestText): WireRequest {
  const fill = (text: string): string => text.replaceAll(MARK, marker);
  const body = parts.body?.bytes(fill) ?? null;
  const lines = [
    parts.line,
    ...(parts.headers.some(([name]) => name === "host") ? [] : [`Host: ${parts.host}`]),
    ...(parts.token === null ? [] : [`Authorization: Bearer ${parts.token}`]),
    ...parts.headers.map(([name, value]) => `${name}: ${value}`),
    ...(parts.body === null || parts.body.type === "" ? [] : [`Content-Type: ${parts.body.type}`]),
    ...framing(body, parts.chunked),
  ];
  const head = Buffer.from(`${fill(lines.join("\r\n"))}\r\n\r\n`);
  return { bytes: Buffer.concat([head, framed(body, parts.chunked)]), bodiless: parts.bodiless };
}

function framing(body: Buffer | null, chunked: boolean): string[] {
  if (body === null) {
    return [];
  }
  return [chunked ? "Transfer-Encoding: chunked" : `Content-Length: ${body.length}`];
}

/** In chunks of odd sizes, so that they cut characters and names in two. */
function framed(body: Buffer | null, chunked: boolean): Buffer {
  if (body === null || !chunked) {
    return body ?? Buffer.alloc(0);
  }
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length; at += 61) {
    const piece = body.subarray(at, at + 61);
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n"));
  }
  return Buffer.concat([...pieces, Buffer.from("0\r\n\r\n")]);
}

/** Lone surrogates become bytes too: the service must cope with invalid UTF-8. */
function percentEncode(text: string): string {
  return text
    .split(MARK)
    .map((part) =>
      [...Buffer.from(part)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""),
    )
    .join(MARK);
}
