import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";

import { isRepriseError, type RepriseError } from "../../../src/core/errors.ts";
import { checkUserConfig } from "../../../src/rules/config/load-config.ts";
import { createSettings, type FolderSettings } from "../../../src/rules/config/settings.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

const SECRET = "sk-a-secret";

function configFile(text: string | Uint8Array): string {
  const file = join(temporaryFolder(), "config.jsonc");
  writeFileSync(file, text);
  return file;
}

async function settingsAt(
  text: string,
  folder: string | null,
  env: Readonly<Record<string, string>> = {},
): Promise<FolderSettings> {
  return createSettings({ env, file: configFile(text), home: "/home/ada" }).at(folder);
}

async function refused(file: string): Promise<RepriseError> {
  const error: unknown = await createSettings({ env: {}, file, home: "/" })
    .at(null)
    .catch((error: unknown) => error);
  if (!isRepriseError(error, "config_invalid")) {
    throw new Error("the config was taken", { cause: error });
  }
  return error;
}

const ACCEPTED = [
  "",
  "// only a comment\n",
  "{}",
  `{ "$schema": "./config.schema.json", "model": "openai:gpt-5", } // the end`,
  `{"permission": {"mode": "edits", "allow": ["write_file(docs/**)"], "ask": [], "deny": ["delegate"]}}`,
  `{"protected": [".env", "secrets/**", "~/private", "/etc"]}`,
  `{"sandbox": {"limits": {"processes": 50, "memory_mib": 4096, "file_mib": 1}}, "folders": {"/w": {"sandbox": {}}}}`,
  `{"sandbox": {"visible": ["~/.tool", "~/a b/c/", "~/..rc"]}, "folders": {"/w": {"sandbox": {"visible": []}}}}`,
  `{"limits": {"children": 3, "tokens": {"exchange": 100000}}}`,
  `{"environment": ["JAVA_HOME", "_x1"], "theme": "light", "notifications": "system"}`,
  `{"folders": {"~/work": {"persona": "reviewer"}, "/srv": {}}}`,
  `{"providers": {"anthropic": {"key_file": "~/.keys/a"}, "openai": {"key_command": ["pass", "show", "x"]}}}`,
  `{"providers": {"groq": {"key_env": "MY_KEY"}, "mine": {"api": "responses", "base_url": "https://h/v1", "headers": {"X-Title": "a b"}}}, "model": "mine:x"}`,
  `{"models": {"openai:x.y": {"context": 5000, "output": 1, "price": {"input": 0.5, "cache_read": 0}, "images": false, "reasoning": true}, "demo:x": {}}}`,
];

/** What is refused, and the line and column that are named. */
const REFUSED: readonly (readonly [text: string, place: string, sentence: RegExp])[] = [
  [`{"modell": "${SECRET}"}`, "1:2", /did you mean "model"/],
  [`{\n  "model": "${SECRET}"\n}`, "2:12", /provider:model/],
  [`{"model": 3}`, "1:11", /text in double quotes/],
  [`{"model": "demo", "model": "demo"}`, "1:19", /twice/],
  [`{"__proto__": {"model": "demo"}}`, "1:2", /no such key/],
  [`{"constructor": 1}`, "1:2", /no such key/],
  [`{"model": "demo"`, "1:17", /Close the object/],
  [`{"model" "demo"}`, "1:10", /colon/],
  [`{"model": "${SECRET}\n"}`, "1:11", /Close the text/],
  [`{model: "demo"}`, "1:2", /./],
  [`{} {}`, "1:4", /Nothing may follow/],
  [`[]`, "1:1", /must be an object/],
  [`null`, "1:1", /must be an object/],
  [`{"persona": ""}`, "1:13", /1 to 4096/],
  [`{"persona": "a\\u0000b"}`, "1:13", /without NUL/],
  [`{"persona": "a\0b"}`, "1:13", /./],
  [`{"theme": "solarized"}`, "1:11", /one of "auto", "dark", "light", "none"/],
  [`{"notifications": "loud"}`, "1:19", /one of "off", "bell", "system"/],
  [`{"folders": {"/w": {"theme": "dark"}}}`, "1:21", /no such key/],
  [`{"permission": "all"}`, "1:16", /must be an object/],
  [`{"permission": {"mode": "yolo"}}`, "1:25", /one of "ask"/],
  [`{"permission": {"allow": "write_file"}}`, "1:26", /must be a list/],
  [`{"permission": {"deny": ["wite_file"]}}`, "1:26", /write write_file/],
  [`{"permission": {"deny": ["write_file(../x)"]}}`, "1:26", /pattern/],
  [`{"protected": ["../x"]}`, "1:16", /pattern/],
  [`{"limits": {"children": 0}}`, "1:25", /1 or more/],
  [`{"limits": {"children": 1e99}}`, "1:25", /1 or more/],
  [`{"limits": {"tokens": {"exchange": "5"}}}`, "1:36", /1 or more/],
  [`{"providers": {"openai": {"key_file": "key"}}}`, "1:39", /absolute path/],
  [`{"providers": {"openai": {"key_command": "cat key"}}}`, "1:42", /must be a list/],
  [`{"providers": {"openai": {"key_command": []}}}`, "1:42", /not be empty/],
  [`{"providers": {"openai": {"key_file": "/k", "key_command": ["x"]}}}`, "1:45", /not several/],
  [`{"providers": {"openai": {"key_env": "K", "key_file": "/k"}}}`, "1:43", /not several/],
  [`{"providers": {"openai": {"key_env": "${SECRET}"}}}`, "1:38", /name of a variable/],
  [`{"providers": {"openai": {"api": "smtp"}}}`, "1:34", /one of "chat"/],
  [`{"providers": {"openai": {"base_url": "api.example"}}}`, "1:39", /address with its scheme/],
  [`{"providers": {"openai": {"headers": {"A b": "x"}}}}`, "1:39", /name of a header/],
  [`{"providers": {"openai": {"headers": {"A": "\\u0000"}}}}`, "1:44", /./],
  [`{"providers": {"Mine": {"base_url": "https://h"}}}`, "1:16", /lower-case letters/],
  [`{"models": {"gpt-5": {}}}`, "1:13", /provider:model/],
  [`{"models": {"openai:x": {"context": 999}}}`, "1:37", /1,000 or more/],
  [`{"models": {"openai:x": {"price": {"input": -1}}}}`, "1:45", /number from 0/],
  [`{"models": {"openai:x": {"images": "yes"}}}`, "1:36", /true or false/],
  [`{"folders": {"/w": {"models": {}}}}`, "1:21", /no such key/],
  [`{"providers": {"openai": {"key": "${SECRET}"}}}`, "1:27", /no such key/],
  // the schema knows no names of providers
  [`{"providers": {"mine": {"key_env": "K"}}}`, "1:24", /needs a base_url/],
  [`{"model": "mine:x"}`, "1:11", /no provider of this name/],
  [`{"models": {"mine:x": {}}}`, "1:23", /no provider of this name/],
  [`{"folders": {"/w": {"model": "mine:x"}}}`, "1:30", /no provider of this name/],
  [`{"folders": {"/w": {"providers": {}}}}`, "1:21", /no such key/],
  [`{"sandbox": {"limits": {"file_mib": 0}}}`, "1:37", /1 or more/],
  [`{"sandbox": {"limits": {"memory_mib": 1048577}}}`, "1:39", /1,048,576 or less/],
  [`{"sandbox": {"off": true}}`, "1:14", /no such key/],
  [`{"sandbox": {"visible": ["~"]}}`, "1:26", /path below your home folder, such as/],
  [`{"sandbox": {"visible": ["~/"]}}`, "1:26", /path below your home folder/],
  [`{"sandbox": {"visible": ["~/a/../.."]}}`, "1:26", /path below your home folder/],
  [`{"sandbox": {"visible": ["~/."]}}`, "1:26", /path below your home folder/],
  [`{"sandbox": {"visible": ["/home/ada/.tool"]}}`, "1:26", /path below your home folder/],
  [`{"sandbox": {"visible": [".tool"]}}`, "1:26", /path below your home folder/],
  [`{"sandbox": {"visible": "~/.tool"}}`, "1:25", /list/],
  [`{"environment": ["AWS_*"]}`, "1:18", /exact name/],
  [`{"folders": {"work": {}}}`, "1:14", /absolute path/],
  [`{"folders": {"/w": {"folders": {}}}}`, "1:21", /no such key/],
  [`{"folders": {"/w": {"permission": {"mode": 1}}}}`, "1:44", /one of/],
  ["[".repeat(100_000), "1:17", /nested/],
  [`{"folders": ${'{"/a": '.repeat(30_000)}`, "1:118", /nested/],
];

describe("[CONFIG-1] [CONFIG-2] the text of a config", () => {
  const schema: unknown = JSON.parse(
    readFileSync(new URL("../../../docs/config.schema.json", import.meta.url), "utf8"),
  );
  const isValid = new Ajv2020({ strict: true }).compile(schema as object);

  it.each(ACCEPTED)("takes document %#", (text) => {
    expect(checkUserConfig(text, "/home/ada").problems).toEqual([]);
    const plain = text.replace(/(?<!:)\/\/.*/, "").replace(", }", "}");
    expect(plain.trim() === "" || isValid(JSON.parse(plain))).toBe(true);
  });

  it.each(REFUSED)("refuses document %#", async (text, place, sentence) => {
    const [first] = checkUserConfig(text, "/home/ada").problems;
    expect(`${first?.line}:${first?.column}`).toBe(place);
    expect(first?.message).toMatch(sentence);
    const file = configFile(text);
    const { message, faults } = await refused(file);
    expect(message).toContain(`${file}:${place}`);
    expect(JSON.stringify([message, faults])).not.toContain(SECRET);
  });

  it("[CONFIG-18] has lists of what is visible of the home, which count together", async () => {
    const text = `{"sandbox": {"visible": ["~/.tool/"]}, "folders": {"/w": {"sandbox": {"visible": ["~/a/b"]}}}}`;
    expect((await settingsAt(text, "/w")).visible).toEqual([".tool", "a/b"]);
    expect((await settingsAt(text, "/")).visible).toEqual([".tool"]);
    expect((await settingsAt("{}", "/w")).visible).toEqual([]);
  });

  it("has a schema that refuses the same documents, as far as a schema can", () => {
    for (const [text, place] of REFUSED) {
      // which providers there are, only the program knows
      if (
        !/mine:x|"mine": {"key_env"/.test(text) &&
        /modell|"model": 3|visible|__proto__|yolo|"permission": "all"|: 0}|"5"|"work"|"folders": {}|providers|models/.test(
          text,
        )
      ) {
        expect([place, isValid(JSON.parse(text))]).toEqual([place, false]);
      }
    }
  });

  it("names every place, up to twenty", async () => {
    const { message, faults } = await refused(configFile(`{\n"a": 1,\n"b": 2,\n"model": 3\n}`));
    expect(message).toContain(":2:1");
    expect(faults.map(({ pointer }) => pointer)).toEqual(["3:1", "4:10"]);
  });

  it("counts from after a byte order mark, and takes other ends of lines", async () => {
    expect((await refused(configFile(`\u{FEFF}{"a": 1}`))).message).toContain(":1:2");
    expect((await refused(configFile(`{\r\n "a": 1}`))).message).toContain(":2:2");
    expect((await refused(configFile(`{\r "a": 1}`))).message).toContain(":2:2");
    const { persona } = await settingsAt(`\u{FEFF}{"persona": "reviewer"}`, null);
    expect(persona).toBe("reviewer");
  });
});

describe("[CONFIG-3] the file of a config", () => {
  it("is none if nothing is there, and is refused if it cannot be read", async () => {
    const folder = temporaryFolder();
    const file = join(folder, "config.jsonc");
    const settings = createSettings({ env: {}, file, home: "/" });
    expect(await settings.config()).toBeNull();
    expect(await createSettings({ env: {}, file: join(file, "x"), home: "/" }).config()).toBeNull();

    symlinkSync("/nowhere/config.jsonc", file);
    expect((await refused(file)).message).toContain("cannot be read");
    const folderThere = join(folder, "folder");
    mkdirSync(folderThere);
    expect((await refused(folderThere)).message).toContain("is not a file");
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    expect((await refused(pipe)).message).toContain("is not a file");
    expect((await refused("/dev/zero")).message).toContain("is not a file");
    expect((await refused(configFile(`{}${" ".repeat(10 * 1024 * 1024)}`))).message).toContain(
      "larger than 256 KiB",
    );
    expect((await refused(configFile(Buffer.from([0x7b, 0xff, 0x7d])))).message).toContain("UTF-8");
    const open = configFile("{}");
    chmodSync(open, 0o666);
    expect((await refused(open)).message).toContain("written by everybody");
  });

  it("[CONFIG-9] may be a link, and is read again when it has changed", async () => {
    const target = configFile(`{"persona": "reviewer"}`);
    const file = join(temporaryFolder(), "config.jsonc");
    symlinkSync(target, file);
    const settings = createSettings({ env: {}, file, home: "/" });
    expect((await settings.at(null)).persona).toBe("reviewer");
    writeFileSync(target, `{"persona": "planner"}`);
    expect((await settings.at(null)).persona).toBe("planner");
    writeFileSync(target, `{"persona": `);
    await expect(settings.at(null)).rejects.toMatchObject({ code: "config_invalid" });
  });
});

describe("[CONFIG-5] what counts in a folder", () => {
  it("is the environment, then the innermost section that has a value, then the defaults", async () => {
    const top = temporaryFolder();
    const [work, inner, beside] = ["work", "work/inner", "work2"].map((name) => join(top, name));
    for (const folder of [work, inner, beside]) {
      mkdirSync(folder ?? "");
    }
    symlinkSync("work", join(top, "linked"));
    const text = JSON.stringify({
      model: "demo:all",
      limits: { children: 7, tokens: { tree: 9 } },
      permission: { mode: "ask", deny: ["write_file(a/**)"] },
      folders: {
        [join(top, "work/inner")]: { model: "demo:inner" },
        [join(top, "linked")]: {
          model: "demo:work",
          persona: "reviewer",
          permission: { mode: "edits", allow: ["write_file(a/b)"] },
          limits: { model_calls: 5 },
        },
      },
    });
    const at = async (folder: string | undefined, env: Readonly<Record<string, string>> = {}) => {
      const { models, persona, limits, permission, tokens } = await settingsAt(
        text,
        folder ?? null,
        env,
      );
      const { children, modelCalls } = limits;
      const layers = permission.layers.length;
      return [models.model, persona, children, modelCalls, permission.mode, layers, tokens.tree];
    };
    expect(await at(undefined)).toEqual(["demo:all", null, 7, 600, "ask", 1, 9]);
    expect(await at(beside)).toEqual(["demo:all", null, 7, 600, "ask", 1, 9]);
    expect(await at(work)).toEqual(["demo:work", "reviewer", 7, 5, "edits", 2, 9]);
    expect(await at(join(work ?? "", "not/there"))).toEqual(await at(work));
    expect(await at(inner)).toEqual(["demo:inner", "reviewer", 7, 5, "edits", 2, 9]);
    const env = { REPRISE_MODEL: "demo:env", REPRISE_CHILDREN: "2", REPRISE_MODEL_CALLS: " " };
    expect(await at(inner, env)).toEqual(["demo:env", "reviewer", 2, 5, "edits", 2, 9]);
  });
});
