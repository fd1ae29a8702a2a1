import { renameSync, writeFileSync } from "node:fs";

import { expect, it } from "vitest";

import { loadPersona } from "../../../src/rules/personas/load.ts";
import { createPersonaCache } from "../../../src/rules/personas/persona-cache.ts";
import { personaFolders } from "../../helpers/persona-folders.ts";

const persona = (prompt: string): string => `---\ndescription: d\n---\n${prompt}\n`;

it("a persona is parsed once, and again as soon as its file is edited or replaced", async () => {
  const { root, places } = personaFolders({ "user/mine.md": persona("first") });
  const cache = createPersonaCache(() => Date.now() + 60_000);
  const load = () => loadPersona({ name: "mine", ...places, cache });

  const first = await load();
  expect(first.prompt).toBe("first");
  expect(await load()).toBe(first);

  writeFileSync(`${root}/user/mine.md`, persona("edited"));
  expect((await load()).prompt).toBe("edited");

  writeFileSync(`${root}/other.md`, persona("switch"));
  renameSync(`${root}/other.md`, `${root}/user/mine.md`);
  expect((await load()).prompt).toBe("switch");
});

it("a persona that was changed a moment ago is parsed each time", async () => {
  const { places } = personaFolders({ "user/mine.md": persona("first") });
  const cache = createPersonaCache(() => 0);
  const load = () => loadPersona({ name: "mine", ...places, cache });

  expect(await load()).not.toBe(await load());
});
