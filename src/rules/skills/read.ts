import { join } from "node:path";

import { oneLine, quote } from "../../core/text/terminal-text.ts";
import { type ParsedFields, parseFields, splitFrontMatter } from "../personas/front-matter.ts";
import { PersonaError } from "../personas/persona-error.ts";
import { readStart, type Unusable } from "../personas/text-file.ts";
import type { SkillPlace } from "./places.ts";
import {
  MAX_COMMAND_BYTES,
  MAX_DESCRIPTION,
  MAX_SKILL_BYTES,
  type PromptCommand,
  type Skill,
} from "./skill.ts";

/** A name that is a word of a line, and part of no path. */
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

const UNUSABLE: Readonly<Record<Exclude<Unusable, "missing">, string>> = {
  not_a_file: "it is not a file",
  outside: "it leads out of its folder",
  unreadable: "it cannot be read",
};

const LIMITS_TOOLS =
  "it takes tools away (disallowed-tools), which cannot be kept here; remove the line";

/** Reads the skill in a folder; null for an entry that is none, and a text for one that cannot be used: why. */
export async function readSkill(place: SkillPlace, entry: string): Promise<Skill | string | null> {
  if (!isName(entry)) {
    return entry.startsWith(".") ? null : nameProblem(entry);
  }
  const folder = join(place.folder, entry);
  const file = await readText(join(folder, "SKILL.md"), place, MAX_SKILL_BYTES);
  if (file === null || "problem" in file) {
    return file?.problem ?? null;
  }
  return parsed(() => {
    const { yaml, body } = splitFrontMatter(file.text);
    const fields = parseFields(yaml);
    const name = textOf(fields, "name") ?? entry;
    const description = oneLine(textOf(fields, "description") ?? "");
    if (hasLimits(fields)) {
      return LIMITS_TOOLS;
    }
    if (!isName(name)) {
      return nameProblem(name);
    }
    if (description === "") {
      return "it has no description, by which a model would choose it";
    }
    return body === ""
      ? "it has no text below its front matter"
      : {
          name,
          description: cut(description),
          source: place.source,
          path: join(place.shown, entry, "SKILL.md"),
          folder,
        };
  });
}

/** Reads a command; as `readSkill`. Its front matter may be absent. */
export async function readCommand(
  place: SkillPlace,
  entry: string,
): Promise<PromptCommand | string | null> {
  if (!entry.endsWith(".md") || entry.toLowerCase() === "readme.md") {
    return null;
  }
  const name = entry.slice(0, -".md".length);
  if (!/^[a-z][a-z-]{0,63}$/.test(name)) {
    return `${quote(name)} cannot be typed as a command; rename it to lowercase letters and hyphens`;
  }
  const file = await readText(join(place.folder, entry), place, MAX_COMMAND_BYTES);
  if (file === null || "problem" in file) {
    return file?.problem ?? null;
  }
  return parsed(() => {
    const hasFields = /^---[ \t]*\r?\n/.test(file.text);
    const { yaml, body } = hasFields
      ? splitFrontMatter(file.text)
      : { yaml: "", body: file.text.trim() };
    const fields = parseFields(yaml);
    if (hasLimits(fields)) {
      return LIMITS_TOOLS;
    }
    const description = cut(oneLine(textOf(fields, "description") ?? ""));
    return body === ""
      ? "it has no text"
      : { name, description, path: join(place.shown, entry), text: body };
  });
}

async function readText(
  path: string,
  { within }: SkillPlace,
  maxBytes: number,
): Promise<{ readonly text: string } | { readonly problem: string } | null> {
  const start = await readStart({ path, within, maxBytes });
  if (typeof start === "string") {
    return start === "missing" ? null : { problem: UNUSABLE[start] };
  }
  if (start.cut) {
    return { problem: `it is larger than ${maxBytes / 1024} KB` };
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(start.bytes);
    return text.includes("\0") ? { problem: "it is not text" } : { text };
  } catch {
    return { problem: "it is not UTF-8" };
  }
}

function parsed<Found>(parse: () => Found | string): Found | string {
  try {
    return parse();
  } catch (error) {
    if (error instanceof PersonaError) {
      return oneLine(error.message);
    }
    throw error;
  }
}

/** True for a file that takes tools away. `allowed-tools` allows some without a question (agentskills.io), which no file may. */
function hasLimits(fields: ParsedFields): boolean {
  return [...fields.keys()].some(
    (key) => key.toLowerCase().replaceAll(/[_-]/g, "") === "disallowedtools",
  );
}

function textOf(fields: ParsedFields, name: string): string | null {
  const value = fields.get(name)?.value;
  return typeof value === "string" ? value : null;
}

function isName(name: string): boolean {
  return NAME.test(name);
}

function nameProblem(name: string): string {
  return `${quote(name)} cannot be a name: lowercase letters, digits, hyphens and underscores, 64 at most`;
}

function cut(text: string): string {
  return text.length <= MAX_DESCRIPTION
    ? text
    : `${text.slice(0, MAX_DESCRIPTION - 1).toWellFormed()}…`;
}
