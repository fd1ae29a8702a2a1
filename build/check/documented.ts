import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A program of `docs/library.md` and what the page says that it prints. */
export interface DocumentedProgram {
  readonly code: string;
  readonly output: string;
  /** True if it needs LangChain's packages, which are not among what the package depends on. */
  readonly withLangChain: boolean;
}

/** What a reader of `docs/library.md` copies from it. */
export interface LibraryPage {
  readonly programs: readonly DocumentedProgram[];
  /** The schema that one of the programs needs, in `.reprise/schemas/note.json`. */
  readonly schema: string;
}

/** Reads the page: each program is followed by its output. */
export function readLibraryPage(root: string): LibraryPage {
  const page = readFileSync(join(root, "docs/library.md"), "utf8");
  const found = page.matchAll(/^```ts\n(.*?)^```\n.*?^```text\n(.*?)^```$/gms);
  return {
    programs: [...found].map(([, code = "", output = ""]) => ({
      code,
      output,
      withLangChain: code.includes('"@langchain/'),
    })),
    schema: /^```json\n(.*?)^```$/ms.exec(page)?.[1] ?? "",
  };
}
