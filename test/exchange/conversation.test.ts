import { fileURLToPath } from "node:url";

import { expect, it } from "vitest";

import { openExchanger } from "../../src/compose.ts";
import { createConversation } from "../../src/exchange/conversation.ts";
import { readDetail } from "../../src/store/records/messages/read.ts";
import { listSessions } from "../../src/store/records/sessions/list.ts";
import { describeEngine, openFresh } from "../helpers/engines.ts";
import { TRUSTED } from "../helpers/trust.ts";
import { tokenHolder } from "../../src/core/principal.ts";

describeEngine("a conversation", (engine) => {
  it("needs no command line: any front end can hold one", async () => {
    const store = await openFresh(engine);
    const conversation = createConversation({
      config: {
        store,
        env: {},
        personas: {
          userDir: null,
          builtinDir: fileURLToPath(new URL("../../personas", import.meta.url)),
          trust: TRUSTED,
        },
        protectedPaths: [],
      },
      openExchanger,
      agent: null,
      start: { kind: "new", columns: { persona_name: "assistant" } },
      whenBusy: "refuse",
      principal: tokenHolder("owner"),
      confirmation: {
        confirmChoices: async () => undefined,
        confirmWaiting: async () => true,
      },
    });
    await expect(conversation.checkModel("openai:gpt-5.1")).rejects.toThrow(
      /^This model needs a key\. Set OPENAI_API_KEY or providers\.openai of the config, or OPENAI_BASE_URL to the address of .*\.$/,
    );
    await expect(conversation.checkPersona("nobody")).rejects.toMatchObject({
      code: "persona_not_found",
    });
    expect((await store.read(listSessions, { limit: 10 })).sessions).toEqual([]);

    const live = { listener: () => undefined, signal: new AbortController().signal };
    const result = await conversation.send("hello", live);
    expect(result).toMatchObject({ state: "done", answer: expect.stringContaining("hello") });
    const { session } = result;
    expect(await conversation.startThread({ archive: true })).toMatchObject({
      id: session.id,
      thread_suffix: 1,
    });
    await conversation.send("hello again", live);
    const { messages } = await store.read(readDetail, { reference: session.id, all: false });
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(await conversation.end()).toMatchObject({ id: session.id, state: "ended" });
  });
});
