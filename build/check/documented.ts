import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A program of `docs/library.md` or `docs/langgraph.md`, and what the page says that it prints. */
export interface DocumentedProgram {
  readonly code: string;
  readonly output: string;
  /** True if it needs LangChain's packages, which are not among what the package depends on. */
  readonly withLangChain: boolean;
}

/** What a reader copies from these pages. */
export interface LibraryPage {
  readonly programs: readonly DocumentedProgram[];
  /** The schema that one of the programs needs, in `.reprise/schemas/note.json`. */
  readonly schema: string;
}

/** Reads the pages: each program is followed by its output. */
export function readLibraryPage(root: string): LibraryPage {
  const page = ["docs/library.md", "docs/langgraph.md"]
    .map((name) => readFileSync(join(root, name), "utf8"))
    .join("\n");
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
