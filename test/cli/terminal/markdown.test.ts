import { expect, it } from "vitest";

import { createMarkdown } from "../../../src/cli/terminal/markdown.ts";
import { createHighlighter } from "../../../src/cli/terminal/markdown/highlight.ts";
import { createTheme } from "../../../src/cli/terminal/text/themes.ts";

const plain = createTheme({ env: {}, setting: "none" });
const dark = createTheme({ env: { TERM: "xterm", FORCE_COLOR: "1" } });
const highlighter = createHighlighter(dark);
await highlighter.load();

function rows(text: string, width = 60): string {
  const markdown = createMarkdown({ theme: plain, highlighter: createHighlighter(plain) });
  return `\n${markdown.rows(text, width).join("\n")}\n`;
}

function styled(text: string, width = 80): string[] {
  return createMarkdown({ theme: dark, highlighter }).rows(text, width);
}

it("[TERM-20] headings, paragraphs and rules keep the lines and the distances that they were written with", () => {
  const text =
    "# The `parse` plan\nIt is **bold**, *italic*.\nNext line\n\n\n***\nSetext\n---\nEnd";
  expect(rows(text, 20)).toBe(`
# The \`parse\` plan
It is bold, italic.
Next line

────────────────────

## Setext
End
`);
});

it("[TERM-20] code in an item is as wide as the narrowest window at most", () => {
  expect(rows("-     ab漢\n", 4)).toBe(`
• ab
  漢
`);
});

it("[TERM-20] lists keep their numbers, and text below a marker is indented", () => {
  const text = [
    "1. one is long enough to wrap",
    "   ```",
    "   code",
    "   ```",
    "1. two",
    "  - nested",
    "    * deeper",
    "",
    "7) seven",
    "- [ ] open",
    "- [x] done",
    "-",
  ].join("\n");
  expect(rows(text, 20)).toBe(`
1. one is long
   enough to wrap
     code
2. two
   ◦ nested
     ▪ deeper

7) seven
☐ open
☑ done
•
`);
});

it("[TERM-20] quotes have a bar before each row, and a list in them is one", () => {
  const text = "> a quote that wraps\n> - item\nstill the item\n>\n> end\n\nafter";
  expect(rows(text, 14)).toBe(`
│ a quote that
│ wraps
│ • item
│   still the
│   item
│
│ end

after
`);
});

it("[TERM-20] rows wrap at words by the columns that characters have", () => {
  expect(rows("漢字漢字。ab e\u0301e\u0301e\u0301 👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧 https://example.com/long", 8)).toBe(`
漢字漢
字。ab
e\u0301e\u0301e\u0301
👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧
https://
example.
com/long
`);
});

it("[TERM-21] an address that differs from the text is shown, with its host in ASCII", () => {
  const text =
    "[https://good.com](https://evil.com) [same](same) <https://a.b/c> https://a.b/d. me@a.b " +
    '[x](https://аpple.com/) ![picture](p.png "on top") [a][1]\n\n[1]: https://hidden.com';
  expect(rows(text, 200)).toBe(`
https://good.com (https://evil.com) same https://a.b/c https://a.b/d. me@a.b x (https://xn--pple-43d.com/) picture (p.png "on top") [a][1]

[1]: https://hidden.com
`);
});

it("[TERM-21] HTML and everything else but Markdown is text, and controls are signs", () => {
  const text =
    "<details><!-- note --> ~~no~~ &lt;b&gt; &#27;[2J &#x202e; &bogus; \u001b[2J\u202e a\\*b one<br>two";
  expect(rows(text, 200)).toBe(`
<details><!-- note --> ~~no~~ <b> ␛[2J <U+202E> &bogus; ␛[2J<U+202E> a*b one
two
`);
});

it("[TERM-21] styles are for words, and no row leaves one open", () => {
  const [first, second] = styled("a **bold *both* text** `x` [t](http://u.v)", 17);
  expect(first).toBe(
    "a \u001b[1mbold \u001b[22m\u001b[1m\u001b[3mboth\u001b[23m\u001b[22m\u001b[1m text\u001b[22m",
  );
  expect(second).toContain("\u001b]8;;http://u.v\u001b\\t\u001b]8;;\u001b\\ (");
});

const TABLE = [
  "| Name | Size | Note |",
  "|:-----|-----:|:----:|",
  "| a.ts | 1,024 | ok |",
  "| longer.ts | 3 | 漢字 `a\\|b` |",
  "| short |",
].join("\n");

it("[TERM-22] a table has aligned columns", () => {
  expect(rows(`Files:\n${TABLE}\nafter`)).toBe(`
Files:

Name      │  Size │    Note
━━━━━━━━━━┿━━━━━━━┿━━━━━━━━━━━
a.ts      │ 1,024 │     ok
longer.ts │     3 │ 漢字 \`a|b\`
short     │       │

after
`);
});

it("[TERM-21] cells without a column and words after the language of a fence are shown", () => {
  expect(rows("a|b\n-|-\n1|2|3 x|4\n```ts run this\ncode\n```")).toBe(`
a │ b
━━┿━━━━━━━━━━━━
1 │ 2 | 3 x | 4

run this
  code
`);
});

it("[TERM-22] cells of a wide table are wrapped, with rules between its rows", () => {
  const text = "a | b\n--|--\n1 | one two three four\n2 | five";
  expect(rows(text, 14)).toBe(`
a │ b
━━┿━━━━━━━━━━━
1 │ one two
  │ three four
──┼───────────
2 │ five
`);
});

it("[TERM-22] a table that does not fit at all is a list of fields", () => {
  expect(rows(TABLE, 20)).toBe(`
Name: a.ts
Size: 1,024
Note: ok
────────────────────
Name: longer.ts
Size: 3
Note: 漢字 \`a|b\`
────────────────────
Name: short
Size:
Note:
`);
});

it("[TERM-23] code is indented, is never wrapped in a style of its prose, and keeps blank lines", () => {
  expect(rows("Run:\n```sh\nnpm  test\n\n\tcd **x**\n```\nthen\n\n    plain\n\n    code", 40))
    .toBe(`
Run:

  npm  test

      cd **x**

then

  plain

  code
`);
});

it("[TERM-23] code of a known language is coloured, in comments over several lines too", () => {
  expect(styled("```ts\n/* a\n * b */ const c = `&<${1}`;\n```")).toEqual([
    "  \u001b[2m/* a\u001b[22m",
    "  \u001b[2m * b */\u001b[22m \u001b[36mconst\u001b[39m c = \u001b[32m`&<${\u001b[39m\u001b[33m1\u001b[39m\u001b[32m}`\u001b[39m;",
  ]);
  expect(styled("```diff\n-a\n+b\n```")).toEqual([
    "  \u001b[31m-a\u001b[39m",
    "  \u001b[32m+b\u001b[39m",
  ]);
  expect(styled("```unknown\nconst a\n```")).toEqual(["\u001b[2munknown\u001b[22m", "  const a"]);
});

it("[TERM-23] lines of over 2,000 characters and what is beyond 200 KB is plain", () => {
  const long = `const a = ${"x".repeat(2000)}`;
  expect(styled(`\`\`\`ts\n${long}\n`, 3000)).toEqual([`  ${long}`]);
  const line = `const a = "${"x".repeat(1000)}";\n`;
  const code = styled(`\`\`\`ts\n${line.repeat(220)}`, 3000);
  expect(code.at(0)).toContain("\u001b");
  expect(code.at(-1)).toBe(`  ${line.trimEnd()}`);
});
