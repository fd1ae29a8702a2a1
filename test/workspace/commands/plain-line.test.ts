import { spawnSync } from "node:child_process";

import { describe, expect, it } from "vitest";

import { plainLine, plainParts } from "../../../src/workspace/commands/plain-line.ts";
import { safePrefix } from "../../../src/workspace/commands/safe-prefix.ts";
import type { Call } from "../../../src/rules/permissions/call.ts";
import { decide } from "../../../src/rules/permissions/decide.ts";
import { flagLayer } from "../../../src/rules/permissions/layers.ts";
import { ruleOf, ruleText } from "../../../src/rules/permissions/rule.ts";
import { BUILT_IN_TOOLS, RUN_COMMAND } from "../../../src/rules/tools/built-in.ts";
import { seededRandom } from "../../helpers/random.ts";
import { testSize } from "../../helpers/size.ts";

const called = (line: string): Call => ({
  tool: RUN_COMMAND,
  file: null,
  command: { parts: plainParts(line), place: "none" },
});
const proposed = (line: string): string | null => {
  const rule = ruleOf(called(line));
  return rule === null ? null : ruleText(rule);
};

describe("a shell line of plain words", () => {
  it.each([
    ["npm test", [["npm", "test"]]],
    ["  npm   test  ", [["npm", "test"]]],
    ["git diff HEAD~1 HEAD^", [["git", "diff", "HEAD~1", "HEAD^"]]],
    [`git commit -m 'two $words' "and more"`, [["git", "commit", "-m", "two $words", "and more"]]],
    [`a'b'"c"d ''`, [["abcd", ""]]],
    ["a&&b||c;d|e --f=g", [["a"], ["b"], ["c"], ["d"], ["e", "--f=g"]]],
    ["echo 'naïve 日本'", [["echo", "naïve 日本"]]],
    ["echo if", [["echo", "if"]]],
  ])("[COMMAND-1] %j has these words", (line, parts) => {
    expect(plainParts(line)).toEqual(parts);
  });

  it("[COMMAND-1] is written so that the same words are read again", () => {
    for (const words of [
      ["npm", "test"],
      ["a b", "it's", '"$x"', "", "~", "日本"],
      ["./x", "a=b"],
    ]) {
      const line = plainLine(words);
      expect(plainParts(line ?? "")).toEqual([words]);
    }
    for (const words of [[], [""], ["a", "line\n"], ["a=b"], ["if"], ["a", "\u202e"]]) {
      expect(plainLine(words)).toBeNull();
    }
  });
});

/** What runs something else than its words say, or whose words only a shell knows. */
const HOSTILE = [
  "npm test $(rm -rf x)",
  "npm test `rm -rf x`",
  'npm test "$(rm -rf x)"',
  "npm test $HOME",
  'npm test "${IFS}"',
  "npm test > .git/hooks/pre-commit",
  "npm test < /dev/tcp/a/1",
  "npm test 2>&1",
  "npm test << end",
  "npm test &",
  "npm test & rm -rf x",
  "npm test |& rm -rf x",
  "npm test\nrm -rf x",
  "npm test\r\nrm -rf x",
  "npm test \\\nrm",
  "npm test *",
  "npm test ?",
  "npm test [a-z]",
  "npm test {a,b}",
  "npm test ~/x",
  "npm test --x=~/x",
  "PATH=. npm test",
  "npm+=x npm test",
  "(npm test)",
  "{ npm test; }",
  "! npm test",
  "if npm test; then rm x; fi",
  "while npm test; do rm x; done",
  "for x in npm test; do rm x; done",
  "time npm test",
  "eval npm test",
  "npm\ttest",
  "npm test # rm",
  "npm test !!",
  "npm\u00a0test",
  "npm\u2003test",
  "npm test \u202e",
  "npm test\u0000",
  "npm test 'rm",
  'npm test "rm',
  "npm test;",
  "npm test &&",
  "; npm test",
  "npm test ;; rm",
  "npm test && || rm",
  "npm() { rm x; }; npm test",
  "function npm { rm x; }; npm test",
  "coproc npm test",
  "exec npm test",
  "command npm test",
  ". npm test",
  "env npm test",
  "$'npm' test",
  '$"npm" test',
  "\\npm test",
  "npm test <(rm x)",
  "npm test = @(a|b)",
  "",
  " ",
];

describe("a hostile line", () => {
  it.each(HOSTILE.map((line) => [line]))(
    "[COMMAND-2] matches no prefix and can be allowed once only: %j",
    (line) => {
      const user = [flagLayer(["run_command(npm test)", "run_command(npm)"], BUILT_IN_TOOLS)];
      for (const mode of ["ask", "edits", "auto"] as const) {
        const call = called(line);
        const decided = decide({
          call,
          tools: BUILT_IN_TOOLS,
          mode,
          user,
          restricting: [],
          asks: true,
        });
        expect(decided.effect).toBe("ask");
      }
      expect(proposed(line)).toBeNull();
    },
  );
});

describe("the rule that is proposed", () => {
  it.each([
    ["npm test", "run_command(npm test)"],
    ["npm test -- --run a.test.ts", "run_command(npm test)"],
    ["npm run lint", "run_command(npm run lint)"],
    ["cargo test --release", "run_command(cargo test)"],
    ["git status --short", "run_command(git status)"],
    ["ls -la src", "run_command(ls)"],
    ["make check", "run_command(make check)"],
    ["npm test && npm test -- --coverage", "run_command(npm test)"],
  ])("[COMMAND-3] for %j is %s", (line, rule) => {
    expect(proposed(line)).toBe(rule);
  });

  it.each(
    `
      sh -c x
      bash x.sh
      /bin/sh x
      zsh x
      python x.py
      python3 -m x
      node x.js
      perl -e x
      ruby x
      php x
      awk x
      sed -i x y
      deno run x
      tsx x
      bun x.ts
      env npm test
      sudo npm test
      doas ls
      xargs rm
      find . -exec rm
      find .
      npx vitest
      npm exec x
      pnpm dlx x
      yarn dlx x
      bunx x
      uvx x
      uv run x
      git -c core.pager=x log
      git -C /x status
      git diff
      git commit -m x
      git push
      nice npm test
      timeout 5 npm test
      nohup npm test
      setsid npm test
      time ls
      stdbuf -o0 ls
      watch ls
      parallel ls
      ssh host ls
      docker run x
      make -f x y
      make SHELL=x test
      make
      npm --prefix /x test
      npm install x
      npm run
      npm
      eval ls
      exec ls
      command ls
      builtin pwd
      source x
      . x
      cd src
      trap x
      export A=b
      alias ls=rm
      set -x
      tar xf x
      curl x
      cat x
      rm x
      cp x y
      npm test && npm run lint
      npm test | sh
      ./ls
      /bin/ls
      npm run -x
      vim x
    `
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "")
      .map((line) => [line]),
  )("[COMMAND-3] for %j is none", (line) => {
    expect(proposed(line)).toBeNull();
  });

  it("[COMMAND-3] begins the command that it is proposed for", () => {
    const words = ["npm", "test", "--", "x"];
    expect(safePrefix(words)).toEqual(words.slice(0, 2));
  });
});

it("[COMMAND-4] a line that is read as words is split by bash and sh in the same way", () => {
  const random = seededRandom("shell lines");
  const any = <Item>(items: readonly Item[]): Item =>
    items[Math.floor(random() * items.length)] as Item;
  const pieces = [
    ..."a b1 npm test -x --y=z A=b . / : %1 + , @ _ ~ ^ ! # $ $x $(a) ` \\ * ? [ ] { } {a,b} ( )".split(
      " ",
    ),
    ..."' \" '' \"it's\" '\"' '$x' '\\' \"é日\" é \u00a0 && || ; | & < > 2> |& ;; if then fi do".split(
      " ",
    ),
    ..."time in case = a=~ x:~ ~root HEAD~1".split(" "),
    " ",
    " ",
    "  ",
    "\t",
    "\n",
    "'a b'",
    '"c d"',
  ];
  const lines: string[] = [];
  while (lines.length < testSize("shell-lines")) {
    const length = 1 + Math.floor(random() * 12);
    const line = Array.from({ length }, () => any(pieces)).join("");
    // most lines are hostile; half of what is tried has quotes and words only
    const plain = line.replace(/[^\w ./:=@%+,~^'"&|;-]/gu, "x");
    lines.push(random() < 0.5 ? line : plain);
  }
  const accepted = lines.flatMap((line) => {
    const parts = plainParts(line);
    return parts === null ? [] : [{ line, parts }];
  });
  expect(accepted.length).toBeGreaterThan(lines.length / 50);
  const all = accepted.map(({ line }) => `${line}\n`).join("");
  for (const shell of ["bash", "sh"]) {
    // words of the grammar, such as if, would be an error
    const { status, stderr } = spawnSync(shell, ["-n"], { input: all, encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
    expect(splitBy(shell, accepted)).toEqual(accepted.map(({ parts }) => parts));
  }
});

/**
 * The commands that a shell runs, each as its words. Every first word is made a function that prints its words;
 * a line is cut at the operators that `plainParts` has found, because a shell may not run what follows `||`.
 */
function splitBy(
  shell: string,
  accepted: readonly { readonly line: string; readonly parts: readonly (readonly string[])[] }[],
): string[][][] {
  // a first word may be a path, so the words become arguments of `show`
  const script = accepted.map(({ line, parts }) => {
    const shown = withShow(line, parts.length);
    return `printf 'line\\0'\n${shown}\n`;
  });
  const { stdout, status, stderr } = spawnSync(shell, ["-s"], {
    input: `show() { printf 'part\\0'; for w in "$@"; do printf '=%s\\0' "$w"; done; }\n${script.join("")}`,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
    env: { PATH: process.env["PATH"], HOME: "/home/of/nobody", LC_ALL: "C.UTF-8" },
  });
  expect([status, stderr]).toEqual([0, ""]);
  const found: string[][][] = [];
  for (const item of stdout.split("\0").slice(0, -1)) {
    if (item === "line") {
      found.push([]);
    } else if (item === "part") {
      found.at(-1)?.push([]);
    } else {
      found.at(-1)?.at(-1)?.push(item.slice(1));
    }
  }
  return found;
}

/**
 * The line with `show` before each of its commands, and `&&`, `||` and `|` as `;`, so that every command runs and
 * prints. The operators are found without the parser under test: outside of quotes.
 */
function withShow(line: string, commands: number): string {
  let quote: string | null = null;
  let shown = "show ";
  let count = 1;
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] ?? "";
    if (quote !== null) {
      quote = character === quote ? null : quote;
      shown += character;
    } else if (character === "'" || character === '"') {
      quote = character;
      shown += character;
    } else if ("&|;".includes(character)) {
      at += line[at + 1] === character ? 1 : 0;
      shown += "; show ";
      count += 1;
    } else {
      shown += character;
    }
  }
  expect(count).toBe(commands);
  return shown;
}
