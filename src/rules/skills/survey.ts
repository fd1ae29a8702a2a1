import { readdir } from "node:fs/promises";
import { join } from "node:path";

import { oneLine, quote } from "../../core/text/terminal-text.ts";
import { isTrusted } from "../trust/trust.ts";
import { type SkillPlace, type SkillPlaces, skillPlaces } from "./places.ts";
import {
  MAX_SKILLS,
  type PromptCommand,
  type Skill,
  type SkillSurvey,
  type Unused,
} from "./skill.ts";

/** Entries of one folder that are read at most. */
const MAX_ENTRIES = 200;

const NOTHING: SkillSurvey = { skills: [], commands: [], unused: [] };

/**
 * Finds skills and commands, those of a repository only if it is trusted. A file that cannot be used is listed with the
 * reason and hides no other one. Without any folder of them nothing is read. Never throws.
 */
export async function surveySkills(
  places: SkillPlaces,
  kinds: readonly SkillPlace["kind"][] = ["skills", "commands"],
): Promise<SkillSurvey> {
  const found = skillPlaces(places).filter(({ kind }) => kinds.includes(kind));
  if (found.length === 0) {
    return NOTHING;
  }
  const skills = new Map<string, Skill>();
  const commands = new Map<string, PromptCommand>();
  const unused: Unused[] = [];
  let trusted: boolean | null = null;
  for (const place of found) {
    const isUsed =
      place.source === "user" || (trusted ??= await isTrusted(places.trust, place.within));
    if (isUsed) {
      await addFrom(place, { skills, commands, unused });
    } else {
      const reason = "the folder is not trusted; `reprise trust add` trusts it";
      unused.push({ path: place.shown, reason, isWithheld: true });
    }
  }
  return { skills: sorted(skills), commands: sorted(commands), unused };
}

interface Adding {
  readonly skills: Map<string, Skill>;
  readonly commands: Map<string, PromptCommand>;
  readonly unused: Unused[];
}

async function addFrom(place: SkillPlace, { skills, commands, unused }: Adding): Promise<void> {
  const names = (await readdir(place.folder).catch((): string[] => [])).toSorted();
  const { readCommand, readSkill } = await import("./read.ts");
  const add = async <Found extends { readonly name: string; readonly path: string }>(
    into: Map<string, Found>,
    read: (place: SkillPlace, entry: string) => Promise<Found | string | null>,
  ): Promise<void> => {
    for (const entry of names.slice(0, MAX_ENTRIES)) {
      const path = oneLine(join(place.shown, entry));
      const given = await read(place, entry);
      const reason = typeof given === "string" ? given : whyNot(given, into);
      if (reason !== null) {
        unused.push({ path, reason });
      } else if (typeof given !== "string" && given !== null) {
        into.set(given.name, given);
      }
    }
    if (names.length > MAX_ENTRIES) {
      unused.push({ path: place.shown, reason: `only its first ${MAX_ENTRIES} entries are read` });
    }
  };
  await (place.kind === "skills" ? add(skills, readSkill) : add(commands, readCommand));
}

/** Null for what can be used, or is none. */
function whyNot<Found extends { readonly name: string; readonly path: string }>(
  given: Found | null,
  known: ReadonlyMap<string, Found>,
): string | null {
  const other = given === null ? undefined : known.get(given.name);
  if (other !== undefined) {
    return `${oneLine(other.path)} has the name ${quote(other.name)} and comes first`;
  }
  return given !== null && known.size >= MAX_SKILLS
    ? `only the first ${MAX_SKILLS} are used`
    : null;
}

function sorted<Found>(byName: ReadonlyMap<string, Found>): Found[] {
  return [...byName].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, found]) => found);
}
