import { it } from "vitest";

import { tokenHolder } from "../../../../src/core/principal.ts";
import { appendUserMessage } from "../../../../src/store/records/messages/append.ts";
import { mirrorMessages } from "../../../../src/store/records/messages/mirror.ts";
import { forgetIndexed } from "../../../../src/store/records/search/forget.ts";
import { startThread } from "../../../../src/store/records/sessions/change.ts";
import { deleteSessionTree } from "../../../../src/store/records/sessions/delete-tree.ts";
import { patchSession } from "../../../../src/store/records/sessions/patch.ts";
import type { Store } from "../../../../src/store/store.ts";
import { describeEngines, newSession, openFresh } from "../../../helpers/engines.ts";
import { seededRandom } from "../../../helpers/random.ts";
import { expectFound } from "../../../helpers/sessions/searched.ts";
import { testSize } from "../../../helpers/size.ts";

const WORDS = ["river", "stone", "bridge", "Mühle", "東京都"];
const principal = tokenHolder("owner");

describeEngines("a search among changes", (engine) => {
  it("[SEARCH-5] [SEARCH-6] [SEARCH-12] [SEARCH-21] finds what a scan finds after any of them", async () => {
    const store = await openFresh(engine);
    const random = seededRandom("search-changes");
    const one = <Item>(items: readonly Item[]): Item | undefined =>
      items[Math.floor(random() * items.length)];
    const ids: string[] = [];
    const messages: { readonly session_id: string; readonly message_id: string }[] = [];
    const text = (): string => `${one(WORDS)} ${one(WORDS)} ${Math.floor(random() * 100)}`;
    for (let step = 0; step < testSize("search-changes"); step += 1) {
      const id = one(ids);
      const kind = random();
      if (id === undefined || kind < 0.15) {
        ids.push((await newSession(store)).id);
      } else if (kind < 0.5) {
        const { message } = await store.write(appendUserMessage, {
          reference: id,
          content: text(),
        });
        messages.push({ session_id: id, message_id: message.message_id });
      } else if (kind < 0.65) {
        const edited = one(messages.filter(({ session_id }) => session_id === id));
        await edit(store, edited, text());
      } else if (kind < 0.72) {
        await store.write(startThread, { id, archive: true });
      } else if (kind < 0.8) {
        const change = random() < 0.7 ? { name: text() } : { archived: random() < 0.5 };
        await store.write(patchSession, { reference: id, change, project_key: null, principal });
      } else if (kind < 0.84) {
        await store.write(deleteSessionTree, { id });
        ids.splice(ids.indexOf(id), 1);
      } else if (kind < 0.88) {
        await store.write(forgetIndexed, { session_id: id });
      } else {
        const word = one(WORDS) ?? "";
        await expectFound(store, { word, archived: false }, `step ${step}`);
        await expectFound(store, { word, archived: true }, `step ${step}`);
      }
    }
  });
});

async function edit(
  store: Store,
  edited: { readonly session_id: string; readonly message_id: string } | undefined,
  content: string,
): Promise<void> {
  if (edited !== undefined) {
    const { session_id, message_id } = edited;
    const base = { role: "user", tool_calls: null, token_count: 1, usage: null } as const;
    const messages = [{ ...base, message_id, content, is_summary: false }];
    await store.write(mirrorMessages, { session_id, messages });
  }
}
