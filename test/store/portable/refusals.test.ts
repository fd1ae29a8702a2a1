import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";

import { isRepriseError } from "../../../src/core/errors.ts";
import type { SessionTree } from "../../../src/store/portable/export-schema.ts";
import { parseExport } from "../../../src/store/portable/parse.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import { exportText } from "../../../src/store/portable/export-text.ts";
import { openSqliteStore } from "../../../src/store/engines/sqlite/open.ts";
import { testSize } from "../../helpers/size.ts";
import { makeFolder } from "../../helpers/temp.ts";
import { makeSession } from "../../helpers/sessions/steps.ts";

const RUNS = 20 * testSize("transfer");
const SECRET = "zebra-4711";
let tree: SessionTree;
let text: string;

beforeAll(async () => {
  using folder = makeFolder();
  await using store = await openSqliteStore({ path: `${folder.path}/a.db` });
  const id = await makeSession(store, {
    steps: [
      { do: "exchange", text: SECRET },
      { do: "exchange", text: "two" },
      { do: "remove", at: 0 },
      { do: "restart" },
      { do: "exchange", text: "three" },
      { do: "pending", text: "four" },
      { do: "pending", text: "five" },
    ],
    children: [{ steps: [{ do: "exchange", text: "task" }], children: [] }],
  });
  tree = await store.read(readSessionTree, { id });
  text = documentOf(tree);
});

/** With the right checksum, whatever it says. */
function documentOf(of: SessionTree): string {
  return [...exportText(of, "2026-01-01T00:00:00.000Z")].join("");
}

/** The tree in which the member at a JSON pointer is another one; undefined takes it away. */
function treeWith(pointer: string, change: Change): SessionTree {
  const changed = structuredClone(tree);
  const path = pointer.split("/").slice(1);
  const last = path.pop() ?? "";
  const holder = path.reduce((value: object, name) => Reflect.get(value, name) as object, changed);
  const value = change(Reflect.get(holder, last));
  if (value === undefined) {
    Reflect.deleteProperty(holder, last);
  } else {
    Reflect.set(holder, last, value);
  }
  return changed;
}

type Change = (old: unknown) => unknown;

/** The member at another pointer. */
const sameAs =
  (pointer: string): Change =>
  () =>
    pointer
      .split("/")
      .slice(1)
      .reduce((value: object, name) => Reflect.get(value, name) as object, tree);
const to =
  (value: unknown): Change =>
  () =>
    value;

function refusalOf(document: string): { code: string; faults: readonly { pointer: string }[] } {
  try {
    parseExport(document);
  } catch (error) {
    if (isRepriseError(error)) {
      expect(error.message + JSON.stringify(error.faults)).not.toContain(SECRET);
      return { code: error.code, faults: error.faults };
    }
    throw error;
  }
  throw new Error("the document was taken");
}

const CASES: readonly [what: string, pointer: string, change: Change, fault?: string][] = [
  ["a gap in the positions", "/messages/1/seq", to(3)],
  ["a counter that is off", "/session/last_seq", to(99)],
  [
    "a missing last message",
    "/messages",
    (old) => (Array.isArray(old) ? old.slice(0, -1) : old),
    "/session/last_seq",
  ],
  ["a clear mark after the end", "/session/cleared_seq", to(99)],
  ["negative totals", "/session/total_input_tokens", to(-1)],
  ["a depth of 4", "/session/depth", to(4)],
  ["a message id twice", "/messages/1/message_id", sameAs("/messages/0/message_id")],
  ["a key twice", "/messages/7/idempotency_key", sameAs("/messages/6/idempotency_key")],
  ["an unknown role", "/messages/0/role", to("owner")],
  ["NUL in a text", "/messages/0/content", to("a\0b")],
  ["a lone surrogate", "/session/title", to("\ud800")],
  ["a number for a text", "/messages/0/content", to(1)],
  ["a flag that is 1", "/session/plan_mode", to(1)],
  ["a time that is none", "/messages/0/ts", to("yesterday")],
  ["a day that no month has", "/messages/0/ts", to("2026-02-30T00:00:00.000Z")],
  ["an hour that no day has", "/session/created_at", to("2026-02-03T25:00:00.000Z")],
  ["an end without its time", "/session/state", to("ended"), "/session/ended_at"],
  ["a time of an end that was none", "/session/ended_at", to("2026-02-03T00:00:00.000Z")],
  ["a title of 51 characters", "/session/title", to("x".repeat(51))],
  ["a folder that is relative", "/session/repo_path", to("../../etc")],
  ["a project key that is none", "/session/project_key", to("project")],
  ["an id that is none", "/session/id", to("abc")],
  ["an unknown field", "/session/lease_epoch", to(7), "/session"],
  ["an unknown field below", "/children/0/messages/0/x", to(1), "/children/0/messages/0"],
  ["a missing field", "/session/model", to(undefined), "/session/model"],
  [
    "a missing field below",
    "/threads/0/checkpoints/0/shape",
    to(undefined),
    "/threads/0/checkpoints/0/shape",
  ],
  ["a thread twice", "/threads/1/suffix", to(0)],
  ["a thread of the future", "/threads/1/suffix", to(5)],
  ["a body twice", "/threads/0/bodies/1", sameAs("/threads/0/bodies/0")],
  ["a list of no body", "/threads/0/lists/0/items/0", to(999), "/threads/0/lists/0"],
  ["a list on a later one", "/threads/0/lists/0/base", to(1), "/threads/0/lists/0"],
  ["a base too long", "/threads/0/lists/1", to({ base: 0, base_length: 99, items: [] })],
  ["a shape of no body", "/threads/0/checkpoints/0/shape", to(999), "/threads/0/checkpoints/0"],
  ...Object.entries({
    "a channel of no list": { l: [9, 1] },
    "a channel beyond its list": { l: [0, 99] },
    "a channel of two kinds": { l: [0, 1], b: 1 },
    "a channel with half a reference": { l: [0] },
    "a channel of no body": [{ $m: 0 }, [999]],
    "a channel with a body that is not a number": { b: "1" },
    "a channel of chunks that are no list": { c: 0 },
    "a channel of a chunk that is not a number": { c: ["0"] },
    "a channel of a chunk that is not there": { c: [0, 999] },
    "a channel of chunks and of one body": { c: [0], b: 0 },
    "a channel of an unknown kind": { x: 1 },
    "a channel with an unknown member": { b: 1, x: 1 },
    "a channel with a reference of an unknown kind": [{ $m: 0 }, [{ x: 1 }]],
    "a channel that is a text": "messages",
  }).map(([what, value]): [string, string, Change, string] => [
    what,
    "/threads/0/checkpoints/1/channels/messages",
    to(value),
    "/threads/0/checkpoints/1",
  ]),
  [
    "metadata that is not a value",
    "/threads/0/checkpoints/0/metadata",
    to("x"),
    "/threads/0/checkpoints/0",
  ],
  [
    "a checkpoint that is its own parent",
    "/threads/0/checkpoints/1/parent_id",
    sameAs("/threads/0/checkpoints/1/checkpoint_id"),
    "/threads/0/checkpoints/1",
  ],
  ["a checkpoint twice", "/threads/0/checkpoints/1", sameAs("/threads/0/checkpoints/0")],
  ["writes of no body", "/threads/0/writes/0/writes/0/2", to({ b: 999 }), "/threads/0/writes/0"],
  [
    "writes out of order",
    "/threads/0/writes/0/writes",
    (old) => (Array.isArray(old) ? old.toReversed() : old),
    "/threads/0/writes/0",
  ],
  ["writes twice", "/threads/0/writes/1", sameAs("/threads/0/writes/0")],
  ["a fold mark beyond the end", "/threads/0/folded/lists", to(99)],
  ["a child of another", "/children/0/session/parent_session_id", to(null), "/children/0/session"],
  ["a child too deep", "/children/0/session/depth", to(2), "/children/0/session"],
  ["a child of a call that its parent did not make", "/children/0/session/parent_call_id", to("x")],
  ["a call without a parent", "/session/parent_call_id", to("c1")],
  ["a depth without a parent", "/session/depth", to(1)],
  [
    "a project key without a folder",
    "/session",
    (old) => ({ ...Object(old), repo_path: null, project_key: "0123456789abcdef" }),
    "/session/project_key",
  ],
  ["a child that is its parent", "/children/0/session/id", sameAs("/session/id")],
];

describe("an inconsistent export", () => {
  it.each(CASES)(
    "[MOVE-6] [MOVE-19] is refused with its place: %s",
    (_, pointer, change, fault = pointer) => {
      expect(refusalOf(documentOf(treeWith(pointer, change)))).toMatchObject({
        code: "export_invalid",
        faults: [{ pointer: fault }],
      });
    },
  );

  it("[MOVE-6] [MOVE-21] is refused if its values are nested without end", () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const call = `[{"id":"a","name":"b","args":${deep}}]`;
    expect(refusalOf(text.replace('"tool_calls":null', `"tool_calls":${call}`))).toMatchObject({
      code: "export_invalid",
      faults: [{ pointer: "" }],
    });
  });

  it("[MOVE-6] [MOVE-20] is refused if the checksum does not match", () => {
    expect(refusalOf(text.replace(SECRET, "zebra-4712"))).toMatchObject({
      code: "export_invalid",
      faults: [{ pointer: "/sha256" }],
    });
  });

  it.each([
    ["another version", (of: string) => of.replace("session@1", "session@2")],
    ["no format", (of: string) => of.replace('"format":"reprise/session@1",', "")],
    ["a list", () => "[]"],
    ["null", () => "null"],
  ])("[MOVE-6] [MOVE-19] is refused as unknown: %s", (_, change) => {
    expect(refusalOf(change(text))).toMatchObject({ code: "export_invalid", faults: [] });
  });

  it("[MOVE-6] is refused if it was cut or changed, unless it has the same meaning", () => {
    fc.assert(
      fc.property(fc.nat({ max: text.length - 3 }), (length) => {
        expect(refusalOf(text.slice(0, length)).code).toBe("malformed_json");
      }),
      { numRuns: RUNS },
    );
    fc.assert(
      fc.property(
        fc.nat({ max: text.length - 1 }),
        fc.constantFrom("0", "9", "a", '"', ",", "}", "\\"),
        (at, character) => {
          const changed = text.slice(0, at) + character + text.slice(at + 1);
          let read: SessionTree;
          try {
            read = parseExport(changed);
          } catch (error) {
            expect(isRepriseError(error, "malformed_json", "export_invalid")).toBe(true);
            return;
          }
          expect(read).toEqual(tree);
        },
      ),
      { numRuns: RUNS },
    );
  });
});
