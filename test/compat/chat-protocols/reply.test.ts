import { expect, it } from "vitest";

import {
  admissionChoices,
  limitChoices,
  offeredChoices,
  permissionChoices,
} from "../../../src/core/text/words.ts";
import { answerOf, type Reply } from "../../../src/compat/chat-protocols/reply.ts";

const PERMISSION = { kind: "permission", choices: permissionChoices(["ls"]) } as const;
const LIMIT = { kind: "limit", choices: limitChoices("1 more tokens") } as const;
const MESSAGES = { kind: "messages", choices: admissionChoices() } as const;
const COLOURS = {
  kind: "question",
  choices: offeredChoices(["allow once", "deny", "yes"]),
} as const;
const TEXT = { kind: "question", choices: null } as const;
type Asked = Parameters<typeof answerOf>[0];

const said = (approved: boolean | null, text: string | null = null): Reply => ({
  approved,
  text,
  note: null,
});

it.each<[string, Asked, Reply, string, string | null]>([
  ["a yes", PERMISSION, said(true), "allow_once", null],
  ["a no", PERMISSION, said(false), "deny", null],
  ["a no with a reason", PERMISSION, said(false, "use pnpm"), "deny", "use pnpm"],
  ["a yes with a note", PERMISSION, said(true, "quickly"), "allow_once", "quickly"],
  ["an id", PERMISSION, said(null, "allow_session"), "allow_session", null],
  ["a yes with an id", PERMISSION, said(true, "allow_session"), "allow_session", null],
  ["a yes with the id of a no", PERMISSION, said(true, "deny"), "deny", null],
  // the client said no
  [
    "a no with an id that allows",
    PERMISSION,
    said(false, "allow_session"),
    "deny",
    "allow_session",
  ],
  ["a yes", LIMIT, said(true), "continue", null],
  ["a no", LIMIT, said(false), "stop", null],
  ["a no with an id that spends", LIMIT, said(false, "continue"), "stop", "continue"],
  ["a yes", MESSAGES, said(true), "yes", null],
  ["a no", MESSAGES, said(false), "no", null],
  ["an id", COLOURS, said(null, "1"), "1", null],
  ["a no with an id", COLOURS, said(false, "1"), "1", null],
  ["a yes to what a model offers", COLOURS, said(true), "3", null],
  ["a no to what a model offers", COLOURS, said(false), "2", null],
])("[UI-2] [HTTP-221] %s (%#) chooses by ids", (_what, asked, reply, choice, note) => {
  expect(answerOf(asked, reply)).toEqual({ given: { choice }, note });
});

it.each<[string, Asked, Reply]>([
  ["the label of a choice", PERMISSION, said(null, "allow once")],
  ["an id of another kind", COLOURS, said(null, "allow_once")],
  ["an id that only a terminal offers", PERMISSION, said(null, "allow_folder")],
  ["a yes without a text", TEXT, said(true)],
])("[UI-8] [HTTP-221] %s is refused", (_what, asked, reply) => {
  expect(() => answerOf(asked, reply)).toThrow(/invalid/);
});

it("[UI-6] a text answers a question without choices, and a note goes with each answer", () => {
  expect(answerOf(TEXT, { approved: null, text: "Ada", note: "my name" })).toEqual({
    given: { text: "Ada" },
    note: "my name",
  });
  expect(answerOf(TEXT, said(false)).given.text).toContain("declined");
  expect(answerOf(PERMISSION, { approved: false, text: "no", note: "use pnpm" })).toEqual({
    given: { choice: "deny" },
    note: "use pnpm",
  });
});
