import { fileURLToPath } from "node:url";

import { expect, it } from "vitest";

import { openExchanger } from "../../../../src/compose.ts";
import type { CliContext } from "../../../../src/cli/process/context.ts";
import { askQuestions } from "../../../../src/cli/chat/ask-questions.ts";
import { askOnScreen } from "../../../../src/cli/terminal/questions/ask-on-screen.ts";
import type { Message } from "../../../../src/cli/terminal/editor/editor.ts";
import type { LiveView } from "../../../../src/cli/terminal/screen/live-view.ts";
import { createConversation } from "../../../../src/exchange/conversation.ts";
import { answerQuestion } from "../../../../src/store/records/questions/answer.ts";
import { listWithAnswered } from "../../../../src/store/records/questions/read.ts";
import { readSession } from "../../../../src/store/records/sessions/read.ts";
import type { Store } from "../../../../src/store/store.ts";
import { describeEngine, openFresh } from "../../../helpers/engines.ts";
import { viewScreen } from "../../../helpers/terminal-view.ts";
import { TRUSTED } from "../../../helpers/trust.ts";
import { waitingSession } from "../../../helpers/waiting-session.ts";
import { localPrincipal } from "../../../../src/core/principal.ts";

async function conversationIn(store: Store, id: string) {
  return createConversation({
    config: {
      store,
      env: {},
      personas: {
        userDir: null,
        builtinDir: fileURLToPath(new URL("../../../../personas", import.meta.url)),
        trust: TRUSTED,
      },
      protectedPaths: [],
    },
    openExchanger,
    agent: null,
    start: { kind: "existing", session: await store.read(readSession, { id }) },
    whenBusy: "refuse",
    principal: localPrincipal("terminal", null),
    confirmation: { confirmChoices: async () => undefined, confirmWaiting: async () => true },
  });
}

/** Questions with these choices in a stored session, asked on a screen. */
async function asking(store: Store, ...choices: readonly (readonly string[] | null)[]) {
  const { id, ids } = await waitingSession(store, ...choices);
  const place = viewScreen();
  const notices: string[] = [];
  const stderr = { isTTY: true, print: (text: string) => void notices.push(text) };
  const cli = { stderr, env: {} } as Partial<CliContext> as CliContext;
  let view: LiveView | null = null;
  const conversation = await conversationIn(store, id);
  const drafts: Message[] = [];
  const ask = askOnScreen(cli, place.screen, {
    show: (shown) => {
      view = shown;
    },
    keep: (draft) => void drafts.push(draft),
  });
  const again = () =>
    askQuestions({ cli, conversation, store, front: { ask } }, { continues: true });
  const end = again();
  const shows = async (text: string): Promise<LiveView> => {
    // the question is right above its choices, or in them
    const last = (): string => place.committed.findLast((row) => row.startsWith("── ")) ?? "";
    await expect
      .poll(() => (view === null ? "" : `${last()}\n${place.draw(view)}`))
      .toContain(text);
    return view as unknown as LiveView;
  };
  return {
    ids,
    id,
    notices,
    drafts,
    end,
    again,
    view: () => view,
    shows,
    type: async (text: string, ...keys: readonly string[]) => {
      place.press(await shows(text), ...keys);
    },
    answers: async () =>
      (await store.read(listWithAnswered, { reference: id })).map(
        ({ text, answer }) => [text, answer] as const,
      ),
  };
}

describeEngine("questions of a stored session on the screen", (engine) => {
  it("[TERM-45] are asked in turns, and what was typed for one is kept", async () => {
    const store = await openFresh(engine);
    const { type, end, answers, view, notices } = await asking(store, ["a", "b"], null, ["c"]);
    await type("Question 1 of 3: Question 0?", "tab");
    await type("Question 2 of 3: Question 1?", "A", "d", "tab");
    await type("Question 3 of 3: Question 2?", "1", "enter");
    await type("Question 1 of 3: Question 0?", "2", "enter");
    await type("> Ad", "a", "enter");
    expect(await end).toBe("answered");
    expect(view()).toBe(null);
    expect(notices).toEqual([]);
    expect(Object.fromEntries(await answers())).toEqual({
      "Question 0?": "b",
      "Question 1?": "Ada",
      "Question 2?": "c",
    });
  });

  it("[TERM-45] stay open with Esc", async () => {
    const store = await openFresh(engine);
    const { type, end, answers, notices } = await asking(store, ["a"], ["b"]);
    await type("Question 0?", "1", "enter");
    await type("Question 1?", "esc");
    expect(await end).toBe("open");
    expect(notices.join("")).toMatch(/^The question stays open\./);
    expect((await answers()).map(([, answer]) => answer)).toEqual([null, "a"]);
  });

  it("[TERM-45] keep what was typed when they stay open, until they are asked again", async () => {
    const store = await openFresh(engine);
    const { type, end, again, answers, drafts } = await asking(store, null);
    await type("Question 0?", "A", "d", "esc");
    expect(await end).toBe("open");
    const answered = again();
    await type("> Ad", "a", "enter");
    expect(await answered).toBe("answered");
    expect(await answers()).toEqual([["Question 0?", "Ada"]]);
    expect(drafts).toEqual([]);
  });

  it("[TERM-45] [TERM-96] go away once they are answered elsewhere, and say so", async () => {
    const store = await openFresh(engine);
    const { shows, type, end, notices, drafts, id, ids } = await asking(store, null, ["b"]);
    await type("Question 0?", "x");
    const given = { given: { text: "from elsewhere" }, note: null, answered_by: "http" } as const;
    await store.write(answerQuestion, { reference: id, question: ids[0] ?? "", ...given });
    await shows("Question 2 of 2: Question 1?");
    expect(notices).toEqual(["Answered elsewhere: from elsewhere\n"]);
    // what was typed goes to the editor
    expect(drafts).toEqual([{ text: "x", pasted: false }]);
    await type("Question 1?", "1", "enter");
    expect(await end).toBe("elsewhere");
  });
});
