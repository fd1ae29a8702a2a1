import { expect, it } from "vitest";

import { newId } from "../../../../src/core/ids.ts";
import { permissionChoices } from "../../../../src/core/text/words.ts";
import { answerQuestion } from "../../../../src/store/records/questions/answer.ts";
import { insertQuestion, shownHash } from "../../../../src/store/records/questions/ask.ts";
import { listWithAnswered } from "../../../../src/store/records/questions/read.ts";
import { verifySession } from "../../../../src/store/verify/verify-session.ts";
import { describeEngines, newSession, openFresh } from "../../../helpers/engines.ts";

/** Choices of a version that had other words for the same ids. */
const CHOICES = permissionChoices(["write_file(a.txt)"]).map((choice) => ({
  ...choice,
  label: `${choice.label} (once)`,
  meaning: `${choice.meaning} Earlier words.`,
}));

describeEngines("the choices of a question", (engine) => {
  it("[QUESTION-47] [QUESTION-48] keep the words that a person saw, and the answer is the id", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const shown = {
      kind: "permission",
      text: "Write?",
      choices: CHOICES,
      permission: {
        tool: "write_file",
        subject: "a.txt",
        rule: "write_file",
        layer: "built-in",
        may_last: true,
      },
    } as const;
    const question = {
      ...shown,
      id: newId(),
      call_id: "call",
      number: 1,
      shown_hash: shownHash(shown),
      default: { choice: "deny", after_ms: 60_000 },
    };
    await store.write(
      (tx) => insertQuestion(tx, { session_id: id, thread_suffix: 0 }, question),
      null,
    );
    await store.write(answerQuestion, {
      reference: id,
      question: question.id,
      given: { choice: "allow_session" },
      note: null,
      answered_by: "http",
    });
    const { answer } = await store.read(
      ({ db }) => db.selectFrom("questions").select("answer").executeTakeFirstOrThrow(),
      null,
    );
    expect(answer).toBe("allow_session");
    expect(await store.read(listWithAnswered, { reference: id })).toMatchObject([
      {
        ...shown,
        default_answer: "deny",
        choice: "allow_session",
        answer: "always allow in this session (once)",
      },
    ]);
    expect((await verifySession(store, id)).findings).toEqual([]);
  });

  it("[QUESTION-9] change what an answer counts for, and so do the facts of a permission", () => {
    const asking = {
      kind: "permission",
      text: "Write?",
      choices: CHOICES,
      permission: null,
    } as const;
    const permission = { tool: "a", subject: null, rule: "a", layer: "b", may_last: false };
    const [first, ...others] = CHOICES;
    const hashes = [
      shownHash(asking),
      shownHash({ ...asking, choices: null }),
      shownHash({ ...asking, choices: others }),
      shownHash({ ...asking, choices: [{ ...first!, label: "deny" }, ...others] }),
      shownHash({ ...asking, choices: [{ ...first!, id: "deny" }, ...others] }),
      shownHash({ ...asking, choices: [{ ...first!, meaning: null }, ...others] }),
      shownHash({ ...asking, choices: [{ ...first!, lasting: ["*"] }, ...others] }),
      shownHash({ ...asking, permission }),
      shownHash({ ...asking, permission: { ...permission, subject: "c" } }),
      shownHash({ ...asking, permission: { ...permission, rule: "c" } }),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  it.each([
    ["another id", `[{"id":"allow_once"},{"id":"1"}]`],
    ["the same id twice", `[{"id":"deny"},{"id":"deny"}]`],
    ["words alone", `["allow once","deny"]`],
    ["no list", `{"id":"deny"}`],
  ])("[QUESTION-47] are named by verify with %s", async (_what, choices) => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const question = {
      kind: "permission",
      text: "Write?",
      choices: permissionChoices(null),
      permission: null,
      id: newId(),
      call_id: "call",
      number: 1,
      shown_hash: "0".repeat(64),
      default: null,
    } as const;
    await store.write(
      (tx) => insertQuestion(tx, { session_id: id, thread_suffix: 0 }, question),
      null,
    );
    await store.write(({ db }) => db.updateTable("questions").set({ choices }).execute(), null);
    const { findings } = await verifySession(store, id);
    expect(findings.map(({ sentence }) => sentence).join()).toMatch(/choices\. Must have the ids/);
  });
});
