import { expect, it } from "vitest";

import { userAt } from "../../../../src/core/consents.ts";
import { localUser } from "../../../../src/store/records/leases/local-user.ts";
import { exportText } from "../../../../src/store/portable/export-text.ts";
import { readSessionTree } from "../../../../src/store/portable/read-tree.ts";
import { answerQuestion } from "../../../../src/store/records/questions/answer.ts";
import { answerByDefault, findDueQuestions } from "../../../../src/store/records/questions/due.ts";
import { listWithAnswered } from "../../../../src/store/records/questions/read.ts";
import { setPlanMode } from "../../../../src/store/records/sessions/change.ts";
import { readConsents } from "../../../../src/store/records/sessions/consents.ts";
import { createSession } from "../../../../src/store/records/sessions/create.ts";
import { deleteSessionTree } from "../../../../src/store/records/sessions/delete-tree.ts";
import {
  keepRule,
  removeRule,
  setPermissionMode,
} from "../../../../src/store/records/sessions/permissions.ts";
import { acceptChoices, acceptMessages } from "../../../../src/store/records/messages/waiting.ts";
import type { Store } from "../../../../src/store/store.ts";
import { describeEngines, openFresh } from "../../../helpers/engines.ts";
import { askIn, waitingSession } from "../../../helpers/waiting-session.ts";
import { localPrincipal, tokenHolder } from "../../../../src/core/principal.ts";

const ADA = "ada@machine";
const CALLER = localPrincipal("terminal", ADA);

const consentsOf = async (store: Store, session_id: string): Promise<string[]> =>
  (await store.read(readConsents, { session_id, limit: 100 })).map(
    ({ kind, subject, who }) => `${who} ${kind} ${subject}`,
  );

const given = { given: { choice: "1" }, note: null, answered_by: "http" } as const;

describeEngines("who consented", (engine) => {
  it("[PERMISSION-36] [PERMISSION-38] is stored with answers, modes, rules, messages and settings, and leaves with the session only", async () => {
    const store = await openFresh(engine);
    const { id, ids } = await waitingSession(store, ["yes", "no"]);
    const [question = ""] = ids;
    await store.write(answerQuestion, {
      reference: id,
      question,
      ...given,
      principal: tokenHolder("owner"),
    });
    await store.write(setPermissionMode, { id, mode: "edits", principal: CALLER });
    await store.write(setPermissionMode, { id, mode: "plan", principal: CALLER });
    await store.write(setPlanMode, { id, plan_mode: false, principal: CALLER });
    await store.write(keepRule, { id, rule: "edit_file(a)", n: null, question });
    await store.write(removeRule, { id, rule: "edit_file(a)" });
    await store.write(acceptMessages, { session_id: id, through_seq: 1, principal: CALLER });
    await store.write(acceptChoices, { session_id: id, through_change: 0, principal: CALLER });
    const all = [
      `token answer ${question}`,
      `${ADA} mode edits`,
      `${ADA} mode plan`,
      `${ADA} mode plan off`,
      "token rule edit_file(a)",
      `${ADA} messages 1`,
      `${ADA} settings 0`,
    ];
    expect(await consentsOf(store, id)).toEqual(all);
    const tree = await store.read(readSessionTree, { id });
    expect([...exportText(tree, "2026-01-01T00:00:00.000Z")].join("")).not.toContain(ADA);
    await store.write(setPermissionMode, { id, mode: "ask" });
    expect(await consentsOf(store, id)).toEqual(all);
    await store.write(deleteSessionTree, { id });
    expect(await consentsOf(store, id)).toEqual([]);
  });

  it("[PERMISSION-36] begins with the mode that a new session was given, if that asks less", async () => {
    const store = await openFresh(engine);
    for (const [permission, expected] of [
      ["all", [`${ADA} mode all`]],
      ["ask", []],
      ["plan", []],
    ] as const) {
      const { id } = await store.write(createSession, { permission, principal: CALLER });
      expect(await consentsOf(store, id)).toEqual(expected);
    }
  });

  it("[PERMISSION-36] [PERMISSION-37] of two who answer at once the first is kept, and the refusal names it; a time-out is nobody's consent", async () => {
    const store = await openFresh(engine);
    const { id, ids } = await waitingSession(store, ["yes", "no"]);
    const [question = ""] = ids;
    const results = await Promise.allSettled(
      ["ada@a", "bob@b"].map((name) =>
        store.write(answerQuestion, {
          reference: id,
          question,
          ...given,
          principal: localPrincipal("terminal", name),
        }),
      ),
    );
    const [refused] = results.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
    const [kept = ""] = await consentsOf(store, id);
    const [who] = kept.split(" ");
    expect(String(refused)).toMatch(new RegExp(`answered by ${who} at \\d{4}-`));
    expect(await consentsOf(store, id)).toHaveLength(1);

    const due = await askIn(store, id, { choices: ["yes", "no"], index: 7, due: "2" });
    const [found] = await store.read(findDueQuestions, { top: id });
    if (found !== undefined) {
      await store.write(answerByDefault, found);
    }
    expect(await consentsOf(store, id)).toHaveLength(1);
    const listed = await store.read(listWithAnswered, { reference: id });
    expect(new Map(listed.map((each) => [each.id, each.answered_who]))).toEqual(
      new Map([
        [question, who],
        [due, null],
      ]),
    );
  });
});

it("[PERMISSION-36] a user's name is bounded, and no character of it is interpreted", () => {
  const name = userAt(`\u001b[31m${"a".repeat(500)}\n\0\ud800`, "");
  expect(name).toMatch(/^[\P{C}]{1,64}@\?$/u);
  expect(localUser()).toMatch(/^[^@]+@[^@]+$/);
});
