import { parse } from "jsonc-parser";
import { describe, expect, it } from "vitest";

import { type ConfigEdit, editText } from "../../../src/rules/config/edit-text.ts";
import { seededRandom } from "../../helpers/random.ts";

const WRITTEN = `// mine
{
  /* the one that answers */
  "model": "demo:echo", // fast
  "permission": {
    // none of these
    "deny": [
      "write_file(a)", // the first
      "write_file(b)" // the last
    ] // end of the list
  } // end of the object
  // end of all
}
// after
`;

describe("[CONFIG-4] a change of a text", () => {
  it.each<readonly [what: string, edit: ConfigEdit, before: string, after: string]>([
    [
      "replaces a value",
      { path: ["model"], value: "ollama:x" },
      `"demo:echo", // fast`,
      `"ollama:x", // fast`,
    ],
    [
      "adds a key after the comments",
      { path: ["persona"], value: "planner" },
      `  } // end of the object
  // end of all
}`,
      `  }, // end of the object
  // end of all
  "persona": "planner"
}`,
    ],
    [
      "adds to a list",
      { path: ["permission", "deny", 2], value: "delegate" },
      `"write_file(b)" // the last
    ]`,
      `"write_file(b)", // the last
      "delegate"
    ]`,
    ],
    [
      "adds what is nested",
      { path: ["permission", "allow", 0], value: "delegate" },
      `    ] // end of the list
`,
      `    ], // end of the list
    "allow": [
      "delegate"
    ]
`,
    ],
    [
      "removes an item of a list and leaves its comment",
      { path: ["permission", "deny", 1], value: undefined },
      `      "write_file(b)" // the last`,
      `       // the last`,
    ],
    [
      "removes a key",
      { path: ["model"], value: undefined },
      `  "model": "demo:echo", // fast`,
      `   // fast`,
    ],
    ["removes nothing", { path: ["persona"], value: undefined }, "", ""],
  ])("%s", (_, edit, before, after) => {
    expect(editText(WRITTEN, edit)).toBe(WRITTEN.replace(before, after));
  });

  it.each([
    ["", `{\n  "a": {\n    "b": 1\n  }\n}\n`],
    ["// c", `// c\n{\n  "a": {\n    "b": 1\n  }\n}\n`],
    [`{"a": {}}`, `{"a": {\n  "b": 1\n}}`],
    [`{"c": 2, }`, `{"c": 2, \n"a": {\n  "b": 1\n}\n}`],
    [`{"a": {"b": 2}}`, `{"a": {"b": 1}}`],
  ])("makes what is missing in %j", (text, after) => {
    const edited = editText(text, { path: ["a", "b"], value: 1 });
    expect(parse(edited, [], { allowTrailingComma: true })).toMatchObject({ a: { b: 1 } });
    expect(edited.replaceAll(/\s+/g, "")).toBe(after.replaceAll(/\s+/g, ""));
  });

  it("keeps every comment in its order, and all values but the changed one", () => {
    const random = seededRandom("config texts");
    const below = (max: number) => Math.floor(random() * max);
    const any = <Item>(...items: readonly [Item, ...Item[]]): Item =>
      items[below(items.length)] ?? items[0];
    let comments = 0;
    const space = () =>
      any("", " ", "\n", "\r\n\t", `/* c${(comments += 1)} , } */`, ` // c${(comments += 1)} ]\n`);
    const value = (depth: number): string => {
      const size = depth === 0 ? 0 : below(4);
      const ends = (text: string) => text + (size > 0 ? any("", `${space()},`) : "") + space();
      switch (below(depth === 0 ? 2 : 4)) {
        case 0:
          return any("1", "null", "-2.5e3", "true");
        case 1:
          return any(`"x"`, `"// no comment"`, `"\\"}],"`);
        case 2:
          return `[${ends(
            Array.from({ length: size }, () => space() + value(depth - 1)).join(`${space()},`),
          )}]`;
        default:
          return object(depth, size, ends);
      }
    };
    const object = (depth: number, size: number, ends: (text: string) => string): string =>
      `{${ends(
        ["a", "b", "c", "d"]
          .slice(0, size)
          .map((key) => `${space()}"${key}"${space()}:${space()}${value(depth - 1)}`)
          .join(`${space()},`),
      )}}`;
    const read = (text: string): Record<string, unknown> =>
      parse(text, [], { allowTrailingComma: true }) ?? {};
    for (let run = 0; run < 300; run += 1) {
      const size = below(4);
      const text = space() + object(3, size, (inner) => inner + space()) + space();
      const key = any("a", "b", "c", "d", "new");
      const edit = { path: [key], value: any<unknown>(undefined, "set", { deep: [1] }) };
      const after = editText(text, edit);
      const expected = { ...read(text), [key]: edit.value };
      if (edit.value === undefined) {
        delete expected[key];
      }
      expect(read(after), text).toEqual(expected);
      const numbers = (of: string) => [...of.matchAll(/c\d+ /g)].map(([number]) => number);
      const left = numbers(after);
      expect(left).toEqual(numbers(text).filter((number) => left.includes(number)));
      const before = read(text)[key];
      if (typeof before !== "object" && edit.value !== undefined) {
        // a list, an object and a removed key take the comments in them along
        expect(left, text).toEqual(numbers(text));
      }
    }
  });
});
