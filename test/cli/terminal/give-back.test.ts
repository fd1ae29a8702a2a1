import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { describe, expect, it } from "vitest";

import { freshHome, type Home } from "../../helpers/reprise.ts";
import { openScreen } from "../../helpers/screen.ts";
import { detailOf, idLike, rowsOf, seed } from "../../helpers/sessions/seed.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import { CTRL_D, openTerminal } from "../../helpers/terminal.ts";

const ID = idLike("abcdef1");
const ESC = "\u001b";

/** The persona that the session of these tests has. */
function makePersona(home: Home): void {
  const file = join(home.home, ".config/reprise/personas/mine.md");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "---\nname: mine\ndescription: Mine.\n---\nYou answer.\n");
}

describe("a message whose exchange could not begin", () => {
  it("[TERM-150] is in the editor again with what waits after it, and is stored once when it is sent again", async () => {
    const home = freshHome();
    await seed(home, { id: ID, persona_name: "mine", model: "demo" });
    const screen = openScreen(home, `reprise --session ${ID}`);
    await screen.until(/^(?:[a-z]+ ⇧⇥ · )?(?:no folder|[~/…]).* · /m);
    screen.type("a careful message\rand one more\r");
    const shown = await screen.until(
      /\[persona_not_found\][^]*^Your message was not sent; it is at the prompt again\.$[^]*^> a careful message\n\s+and one more$[^]*^(?:[a-z]+ ⇧⇥ · )?(?:no folder|[~/…]).* · /m,
    );
    expect(shown).not.toContain("waits:");
    expect(rowsOf(await detailOf(home, ID))).toEqual([]);

    makePersona(home);
    screen.type(", changed\r");
    await screen.until(
      /^> a careful message\n\s+and one more, changed$[^]*\[demo\][^]*^(?:[a-z]+ ⇧⇥ · )?(?:no folder|[~/…]).* · /m,
    );
    screen.type(CTRL_D);
    expect(await screen.finished).toBe(0);
    expect(rowsOf(await detailOf(home, ID)).slice(0, 1)).toEqual([
      [1, "user", "a careful message\nand one more, changed"],
    ]);
  });

  it.each([
    ["model_key_missing", { model: "openai:gpt-5" }],
    ["model_unknown", { model: "nobody:knows" }],
    ["persona_not_found", { persona_name: "mine" }],
  ] as const)(
    "[TERM-150] with plain lines it is at the prompt again, before what was typed meanwhile: %s",
    async (code, columns) => {
      const home = freshHome();
      await seed(home, { id: ID, ...columns });
      const terminal = openTerminal(home, `exec reprise --session ${ID}`);
      await terminal.shows(/> $/);
      terminal.type(`${ESC}[200~two\nlines${ESC}[201~\rand one more\r`);
      await terminal.shows(
        new RegExp(
          `\\[${code}\\]\\nYour message was not sent; .*\\n> two\\nlines\\n… and one more$`,
        ),
      );
      // sent again as it is, and refused again
      terminal.type("\r");
      await terminal.shows(new RegExp(`\\[${code}\\][^]*\\n> two\\nlines\\n… and one more$`));
      expect(rowsOf(await detailOf(home, ID))).toEqual([]);
    },
  );

  it("[TERM-150] one that is stored is not given back: /retry asks for its answer", async () => {
    const refused = { error: { message: "no" }, status: 401 };
    const server = await startModelServer({ answer: () => refused });
    const home = freshHome(server.env("openai"));
    await seed(home, { id: ID, model: "openai:test" });
    const screen = openScreen(home, `reprise --session ${ID}`);
    await screen.until(/^(?:[a-z]+ ⇧⇥ · )?(?:no folder|[~/…]).* · /m);
    screen.type("a question\r");
    await screen.until(
      /\[model_unauthorized\][^]*\/retry[^]*^>$[^]*^(?:[a-z]+ ⇧⇥ · )?(?:no folder|[~/…]).* · /m,
    );
    expect(screen.text()).not.toContain("was not sent");
    expect(rowsOf(await detailOf(home, ID))).toEqual([[1, "user", "a question"]]);
  });
});
