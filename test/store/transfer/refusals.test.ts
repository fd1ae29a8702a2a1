import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";

import { isRepriseError } from "../../../src/core/errors.ts";
import type { SessionTree } from "../../../src/store/transfer/document.ts";
import { parseExport } from "../../../src/store/transfer/parse.ts";
import { readSessionTree } from "../../../src/store/transfer/read-tree.ts";
import { exportText } from "../../../src/store/transfer/text.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open.ts";
import { makeFolder } from "../../helpers/temp.ts";
import { makeSession } from "./sessions.ts";

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

/** A tree that may be changed anywhere, in any way. */
function loose(): any {
  return structuredClone(tree);
}

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

const CASES: readonly [what: string, pointer: string, change: (tree: any) => void][] = [
  ["a hole in the positions", "/messages/1/seq", (t) => (t.messages[1].seq = 3)],
  ["a counter that is off", "/session/last_seq", (t) => (t.session.last_seq += 1)],
  ["a missing last message", "/session/last_seq", (t) => t.messages.pop()],
  ["a clear mark behind the end", "/session/cleared_seq", (t) => (t.session.cleared_seq = 99)],
  ["negative totals", "/session/total_input_tokens", (t) => (t.session.total_input_tokens = -1)],
  ["a depth of 4", "/session/depth", (t) => (t.session.depth = 4)],
  [
    "a message id twice",
    "/messages/1/message_id",
    (t) => (t.messages[1].message_id = t.messages[0].message_id),
  ],
  [
    "an idempotency key twice",
    "/messages/7/idempotency_key",
    (t) => (t.messages[7].idempotency_key = t.messages[6].idempotency_key),
  ],
  ["an unknown role", "/messages/0/role", (t) => (t.messages[0].role = "owner")],
  ["NUL in a text", "/messages/0/content", (t) => (t.messages[0].content = "a\0b")],
  ["a lone surrogate", "/session/title", (t) => (t.session.title = "\ud800")],
  ["a number for a text", "/messages/0/content", (t) => (t.messages[0].content = 1)],
  ["a flag that is 1", "/session/plan_mode", (t) => (t.session.plan_mode = 1)],
  ["a time that is none", "/messages/0/ts", (t) => (t.messages[0].ts = "yesterday")],
  ["an id that is none", "/session/id", (t) => (t.session.id = "abc")],
  ["an unknown field", "/session", (t) => (t.session.lease_epoch = 7)],
  ["an unknown field below", "/children/0/messages/0", (t) => (t.children[0].messages[0].x = 1)],
  ["a missing field", "/session", (t) => delete t.session.model],
  [
    "a missing field below",
    "/threads/0/checkpoints/0",
    (t) => delete t.threads[0].checkpoints[0].shape,
  ],
  ["a thread twice", "/threads/1/suffix", (t) => (t.threads[1].suffix = 0)],
  ["a thread of the future", "/threads/1/suffix", (t) => (t.threads[1].suffix = 5)],
  ["a body twice", "/threads/0/bodies/1", (t) => (t.threads[0].bodies[1] = t.threads[0].bodies[0])],
  ["a list of no body", "/threads/0/lists/0", (t) => t.threads[0].lists[0].items.push(999)],
  ["a list on a later one", "/threads/0/lists/0", (t) => (t.threads[0].lists[0].base = 1)],
  [
    "a base too long",
    "/threads/0/lists/1",
    (t) => (t.threads[0].lists[1] = { base: 0, base_length: 99, items: [] }),
  ],
  [
    "a shape of no body",
    "/threads/0/checkpoints/0",
    (t) => (t.threads[0].checkpoints[0].shape = 999),
  ],
  [
    "a channel of no list",
    "/threads/0/checkpoints/1",
    (t) => (t.threads[0].checkpoints[1].channels.messages = { l: [9, 1] }),
  ],
  [
    "a channel beyond its list",
    "/threads/0/checkpoints/1",
    (t) => (t.threads[0].checkpoints[1].channels.messages = { l: [0, 99] }),
  ],
  [
    "a channel that is no value",
    "/threads/0/checkpoints/1",
    (t) => (t.threads[0].checkpoints[1].channels.messages = { l: [0, 1], b: 1 }),
  ],
  [
    "metadata that is no value",
    "/threads/0/checkpoints/0",
    (t) => (t.threads[0].checkpoints[0].metadata = "x"),
  ],
  [
    "a checkpoint twice",
    "/threads/0/checkpoints/1",
    (t) => (t.threads[0].checkpoints[1] = t.threads[0].checkpoints[0]),
  ],
  [
    "writes of no body",
    "/threads/0/writes/0",
    (t) => (t.threads[0].writes[0].writes[0][2] = { b: 999 }),
  ],
  ["writes out of order", "/threads/0/writes/0", (t) => t.threads[0].writes[0].writes.reverse()],
  ["writes twice", "/threads/0/writes/1", (t) => (t.threads[0].writes[1] = t.threads[0].writes[0])],
  [
    "a child of another",
    "/children/0/session",
    (t) => (t.children[0].session.parent_session_id = null),
  ],
  ["a child too deep", "/children/0/session", (t) => (t.children[0].session.depth = 2)],
  [
    "a child that is its parent",
    "/children/0/session/id",
    (t) => (t.children[0].session.id = t.session.id),
  ],
];

describe("an export that does not hold together", () => {
  it.each(CASES)("[MOVE-6] is refused with its place: %s", (_, pointer, change) => {
    const changed = loose();
    change(changed);
    expect(refusalOf(documentOf(changed))).toMatchObject({
      code: "export_invalid",
      faults: [{ pointer }],
    });
  });

  it("[MOVE-6] is refused where the checksum is not that of the rest", () => {
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
  ])("[MOVE-6] is refused as unknown: %s", (_, change) => {
    expect(refusalOf(change(text))).toMatchObject({ code: "export_invalid", faults: [] });
  });

  it("[MOVE-6] is refused where it was cut off or a character of it was changed, or says the same", () => {
    fc.assert(
      fc.property(fc.nat({ max: text.length - 3 }), (length) => {
        expect(refusalOf(text.slice(0, length)).code).toBe("malformed_json");
      }),
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
      { numRuns: 300 },
    );
  });
});
