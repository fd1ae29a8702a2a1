import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { expandCommand } from "../../src/rules/skills/expand.ts";
import { offerOf } from "../../src/rules/skills/offer.ts";
import { MAX_COMMAND_BYTES, MAX_SKILL_BYTES } from "../../src/rules/skills/skill.ts";
import { surveySkills } from "../../src/rules/skills/survey.ts";
import { holdingsOf } from "../../src/rules/trust/holdings.ts";
import { holdsAnything } from "../../src/rules/trust/holds-anything.ts";
import { personaFolders } from "../helpers/persona-folders.ts";
import { UNTRUSTED } from "../helpers/trust.ts";

const skill = (name: string, more = ""): string =>
  `---\nname: ${name}\ndescription: Does ${name}.\n${more}---\n\nDo ${name}.\n`;

/** The folders of a user and of a repository, which is trusted. */
function placesWith(files: Readonly<Record<string, string | Uint8Array>>) {
  const { root, places } = personaFolders(files);
  return { root, places: { ...places, userDir: join(root, "config/personas") } };
}

describe("skills", () => {
  it("[SKILL-1] [SKILL-2] are found in three folders, and the first of a name counts", async () => {
    const { root, places } = placesWith({
      "repo/.agents/skills/one/SKILL.md": skill("one"),
      "repo/.claude/skills/one/SKILL.md": skill("one"),
      "repo/.claude/skills/two/SKILL.md": skill("two", "license: MIT\n"),
      "config/skills/two/SKILL.md": skill("two"),
      "config/skills/three/SKILL.md": "---\ndescription: No name.\n---\nDo it.",
    });
    const { skills, unused } = await surveySkills(places);
    expect(skills.map(({ name, path, source }) => [name, path, source])).toEqual([
      ["one", ".agents/skills/one/SKILL.md", "repository"],
      ["three", join(root, "config/skills/three/SKILL.md"), "user"],
      ["two", ".claude/skills/two/SKILL.md", "repository"],
    ]);
    expect(unused).toEqual([
      {
        path: ".claude/skills/one",
        reason: `.agents/skills/one/SKILL.md has the name "one" and comes first`,
      },
      {
        path: join(root, "config/skills/two"),
        reason: `.claude/skills/two/SKILL.md has the name "two" and comes first`,
      },
    ]);
  });

  it("[SKILL-3] of a repository count only if it is trusted, and the question about trust lists them", async () => {
    const { places } = placesWith({
      "repo/.claude/skills/one/SKILL.md": skill("one"),
      "repo/.claude/commands/fix.md": "Fix it.",
      "config/skills/two/SKILL.md": skill("two"),
    });
    const found = await surveySkills({ ...places, trust: UNTRUSTED });
    expect(found.skills.map(({ name }) => name)).toEqual(["two"]);
    expect(found.commands).toEqual([]);
    expect(found.unused.map(({ path, isWithheld }) => [path, isWithheld])).toEqual([
      [".claude/skills", true],
      [".claude/commands", true],
    ]);
    expect(holdsAnything(places.repoPath)).toBe(true);
    const { withheld } = await holdingsOf(places, places.repoPath, async () => []);
    expect(withheld).toEqual(["skill one", "command /fix"]);
  });

  it("[SKILL-4] [SKILL-5] each that cannot be used has a sentence, and hides no other one", async () => {
    const { root, places } = placesWith({
      "repo/.claude/skills/good/SKILL.md": skill("good"),
      "repo/.claude/skills/broken/SKILL.md": "---\nname: [\n---\nText",
      "repo/.claude/skills/open/SKILL.md": "---\nname: open",
      "repo/.claude/skills/plain/SKILL.md": "No front matter",
      "repo/.claude/skills/nested/SKILL.md": `---\nname: ${"[".repeat(3000)}\n---\nText`,
      "repo/.claude/skills/limits/SKILL.md": skill("limits", "disallowed-tools: Read\n"),
      "repo/.claude/skills/allows/SKILL.md": skill("allows", "allowed-tools: Read, Bash(git:*)\n"),
      "repo/.claude/skills/mute/SKILL.md": "---\nname: mute\n---\nText",
      "repo/.claude/skills/empty/SKILL.md": "---\ndescription: Nothing.\n---\n",
      "repo/.claude/skills/path/SKILL.md": skill("../../path"),
      "repo/.claude/skills/huge/SKILL.md": `${skill("huge")}${"x".repeat(MAX_SKILL_BYTES)}`,
      "repo/.claude/skills/bytes/SKILL.md": Uint8Array.from([0xff, 0xfe, 0x00]),
      "repo/.claude/skills/\u001b[2J\u202e/SKILL.md": skill("escapes"),
      "repo/.claude/skills/notes.txt": "no skill",
      "secret/SKILL.md": skill("secret"),
    });
    symlinkSync(join(root, "secret"), join(root, "repo/.claude/skills/secret"));
    const { skills, unused } = await surveySkills(places);
    expect(skills.map(({ name }) => name)).toEqual(["allows", "good"]);
    const reasons = new Map(
      unused.map(({ path, reason }) => [path.replace(".claude/skills/", ""), reason]),
    );
    expect([...reasons.keys()].toSorted()).toEqual(
      [
        "broken",
        "bytes",
        "empty",
        "huge",
        "limits",
        "mute",
        "nested",
        "notes.txt",
        "open",
        "path",
        "plain",
        "secret",
        "␛[2J<U+202E>",
      ].toSorted(),
    );
    expect(reasons.get("limits")).toContain("disallowed-tools");
    expect(reasons.get("secret")).toBe("it leads out of its folder");
    expect(reasons.get("huge")).toBe("it is larger than 256 KB");
    expect(reasons.get("path")).toContain("cannot be a name");
    const all = unused.map(({ path, reason }) => `${path} ${reason}`).join("");
    expect(all).not.toContain("\u001b");
    expect(all).not.toContain("\u202e");
  });

  it("[SKILL-6] the list for a model is bounded and on one line each", async () => {
    const files = Array.from({ length: 80 }, (_, n) => [
      `repo/.claude/skills/s${n}/SKILL.md`,
      `---\ndescription: "${"x\\n\\u202e".repeat(200)}"\n---\nDo it.`,
    ]);
    const { places } = placesWith(Object.fromEntries(files));
    const { skills, unused } = await surveySkills(places);
    expect(skills).toHaveLength(50);
    expect(unused).toHaveLength(30);
    const offer = offerOf(skills) ?? "";
    expect(offer.split("\n")).toHaveLength(51);
    expect(
      Math.max(
        ...offer
          .split("\n")
          .slice(1)
          .map(({ length }) => length),
      ),
    ).toBeLessThan(600);
    expect(offer).not.toContain("\u202e");
    expect(offerOf([])).toBeNull();
  });
});

describe("commands of a folder", () => {
  it("[SKILL-10] [SKILL-11] are files with or without front matter; others have a sentence", async () => {
    const { root, places } = placesWith({
      "repo/.agents/commands/fix.md": "---\ndescription: Fixes it.\n---\nFix $1.",
      "repo/.claude/commands/fix.md": "Another.",
      "repo/.claude/commands/tell.md": "Tell me --- all.",
      "repo/.claude/commands/readme.md": "About commands.",
      "repo/.claude/commands/Bad Name.md": "Text",
      "repo/.claude/commands/limits.md": "---\ndisallowedTools: Bash(git:*)\n---\nText",
      "repo/.claude/commands/allows.md": "---\nallowed-tools: Bash(git:*)\n---\nText",
      "repo/.claude/commands/huge.md": "x".repeat(MAX_COMMAND_BYTES + 1),
      "repo/.claude/commands/none.md": "",
    });
    writeFileSync(join(root, "outside.md"), "Text");
    symlinkSync(join(root, "outside.md"), join(root, "repo/.claude/commands/outside.md"));
    const { commands, unused } = await surveySkills(places);
    expect(commands).toEqual([
      { name: "allows", description: "", path: ".claude/commands/allows.md", text: "Text" },
      {
        name: "fix",
        description: "Fixes it.",
        path: ".agents/commands/fix.md",
        text: "Fix $1.",
      },
      { name: "tell", description: "", path: ".claude/commands/tell.md", text: "Tell me --- all." },
    ]);
    expect(unused.map(({ path }) => path.replace(".claude/commands/", ""))).toEqual([
      "Bad Name.md",
      "fix.md",
      "huge.md",
      "limits.md",
      "none.md",
      "outside.md",
    ]);
  });

  it.each([
    ["Fix $1 in $2.", `"the bug" src/a.ts`, "Fix the bug in src/a.ts."],
    ["Fix $ARGUMENTS.", "a  b", "Fix a  b."],
    ["Fix $1, $2.", "$2 '$ARGUMENTS'", "Fix $2, $ARGUMENTS."],
    ["Costs $10 and $100.", "", "Costs $10 and $100."],
    ["$ARGUMENTS1", "a", "$ARGUMENTS1\n\na"],
    ["Fix it.", "now", "Fix it.\n\nnow"],
    ["Fix $3.", "a b", "Fix ."],
  ])("[SKILL-12] %j with %j", (text, argument, message) => {
    expect(expandCommand(text, argument)).toBe(message);
  });
});
