import { isUtf8 } from "node:buffer";
import { join } from "node:path";

import { isStorableText } from "../../core/text/text.ts";
import { oneLine } from "../../core/text/terminal-text.ts";
import type { ToolSet } from "../../core/tools.ts";
import { foreignFields } from "./foreign-fields.ts";
import { splitFrontMatter } from "./front-matter.ts";
import { ownFields } from "./own-fields.ts";
import { PersonaError } from "./persona-error.ts";
import type { Persona } from "./persona.ts";
import type { PersonaFolder } from "./folders.ts";
import { readStart, type Unusable } from "./text-file.ts";

const MAX_PERSONA_BYTES = 256 * 1024;
const NAME = /^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}$/;

const UNUSABLE: Readonly<Record<Unusable, string>> = {
  missing: "the file is a broken link; remove or fix it",
  not_a_file: "this is not a file; remove it or give it another name",
  outside: "the file is a link that leads out of the repository; copy the file instead",
  unreadable: "the file cannot be read; check its permissions",
};

/**
 * Reads one persona file: YAML front matter between `---` lines, then the prompt. Its name is the
 * front matter's, else the file's. Throws a PersonaError that says what is wrong and on which line.
 */
export async function readPersona(
  folder: PersonaFolder,
  file: string,
  tools: ToolSet,
): Promise<Persona> {
  const text = await readText(folder, file);
  const path = `${folder.shown}/${file}`;
  const { yaml, body } = splitFrontMatter(text);
  const fields = (folder.foreign ? foreignFields : ownFields)(yaml, tools, path);
  const name = fields.name ?? file.slice(0, -".md".length);
  if (!NAME.test(name)) {
    throw new PersonaError("a name is up to 64 letters, digits, - and _, without spaces");
  }
  if (body === "") {
    throw new PersonaError("the prompt is empty; write it below the front matter");
  }
  return {
    name,
    description: oneLine(fields.description),
    model: fields.model,
    effort: fields.effort,
    fallback: fields.fallback,
    tools: fields.tools,
    servers: fields.servers,
    prompt: body,
    source: folder.source,
    path,
    notes: fields.notes,
  };
}

async function readText({ path, within }: PersonaFolder, file: string): Promise<string> {
  const start = await readStart({ path: join(path, file), within, maxBytes: MAX_PERSONA_BYTES });
  if (typeof start === "string") {
    throw new PersonaError(UNUSABLE[start]);
  }
  if (start.cut) {
    throw new PersonaError("the file is over 256 KB; make it shorter");
  }
  const text = decode(start.bytes);
  if (!isStorableText(text)) {
    throw new PersonaError("the file holds a NUL character; remove it");
  }
  return text;
}

/** Line by line if it is not UTF-8, to say where. */
function decode(bytes: Buffer): string {
  if (isUtf8(bytes)) {
    return new TextDecoder().decode(bytes);
  }
  let line = 1;
  for (let at = 0; at < bytes.length; line += 1) {
    const end = bytes.indexOf("\n", at);
    const next = end === -1 ? bytes.length : end + 1;
    if (!isUtf8(bytes.subarray(at, next))) {
      break;
    }
    at = next;
  }
  throw new PersonaError("this is not UTF-8; save the file in that encoding", line);
}
