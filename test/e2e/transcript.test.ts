import { execFileSync } from "node:child_process";
import { lstatSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, it } from "vitest";

import { createSandboxProbe } from "../../src/workspace/sandbox/probe.ts";
import { type ModelAnswer, startModelServer } from "../helpers/model-server.ts";
import { freshHome } from "../helpers/reprise.ts";
import { openTerminal } from "../helpers/terminal.ts";

const PAGE = fileURLToPath(new URL("../../docs/start.md", import.meta.url));
/** `npm run transcript` sets it: the block in the page is then written instead of compared. */
const WRITES = process.env["REPRISE_TEST_TRANSCRIPT"] === "write";
const BLOCK =
  /(?<=<!-- transcript: .* -->\n```console\n).*?(?=```\n<!-- end of the transcript -->)/s;
const MAX_LINES = 61;

const COMMAND = "reprise --permission auto";
const MESSAGE = "Orders of 100 euros and more get 10 % off. Add that with a test.";
const DENIAL = "deny: no packages, count in whole cents";

const CODE = `/** What an order costs, in cents. */
export function total(prices) {
  return prices.reduce((sum, price) => sum + price, 0);
}
`;
const TEST = `import { equal } from "node:assert/strict";
import { test } from "node:test";
import { total } from "./total.js";

test("adds the prices", () => equal(total([2000, 500]), 2500));
`;

/** The repository that the agent works on. */
const FILES = {
  "package.json": '{ "name": "shop", "type": "module" }\n',
  "total.js": CODE,
  "total.test.js": TEST,
};

/** What the model answers, in turn. */
const ANSWERS: readonly ModelAnswer[] = [
  calls(["read_file", { path: "total.js" }], ["read_file", { path: "total.test.js" }]),
  {
    content: "A tenth of a price can be half a cent. A package for decimal numbers would help.",
    ...calls(["run_command", { argv: ["npm", "install", "decimal.js"], access: "network" }]),
  },
  {
    content: "Then I round to whole cents.",
    ...calls([
      "multi_edit",
      {
        edits: [
          {
            path: "total.js",
            old_text: "  return prices.reduce((sum, price) => sum + price, 0);\n",
            new_text:
              "  const sum = prices.reduce((all, price) => all + price, 0);\n  return sum < 10_000 ? sum : Math.round(sum * 0.9);\n",
          },
          {
            path: "total.test.js",
            old_text: "2500));\n",
            new_text:
              '2500));\ntest("takes 10 % off from 100 euros on", () => equal(total([9000, 1005]), 9005));\n',
          },
        ],
      },
    ]),
  },
  calls(["run_command", { argv: ["node", "--test"] }]),
  { content: "Orders of 100 euros and more are now 10 % cheaper. Both tests pass." },
];

function calls(...each: readonly (readonly [string, object])[]): ModelAnswer {
  return {
    toolCalls: each.map(([name, args]) => ({ name, arguments: JSON.stringify(args) })),
  };
}

const { reason } = await createSandboxProbe()();

it.skipIf(reason !== null)(
  "[DOC-8] the transcript of docs/start.md is what the program shows while it adds a feature, tests it in the sandbox, obeys a denial and undoes all of it",
  async () => {
    let turn = 0;
    const server = await startModelServer({
      answer: () => ANSWERS[turn++] ?? { error: { message: "the script has ended" } },
    });
    const home = freshHome(server.env("anthropic"));
    for (const [name, text] of Object.entries(FILES)) {
      writeFileSync(join(home.project, name), text);
    }
    execFileSync("git", ["init", "--quiet"], { cwd: home.project, env: home.environment() });
    const before = entriesOf(home.project);

    const terminal = openTerminal(home, COMMAND);
    await terminal.shows(/\n> $/);
    terminal.type(`${MESSAGE}\r`);
    await terminal.shows(/npm install decimal\.js[^]*answer> $/);
    terminal.type(`${DENIAL}\r`);
    // the tests ran without a question
    await terminal.shows(/exit code 0 after[^]*Both tests pass\.[^]*\n> $/);
    expect(readFileSync(join(home.project, "total.js"), "utf8")).toContain("0.9");
    terminal.type("/undo\r");
    await terminal.shows(/undone total\.test\.js[^]*\n> $/);
    expect(entriesOf(home.project)).toEqual(before);
    terminal.type("/exit\r");
    const { code, screen } = await terminal.finished;

    expect(code).toBe(0);
    expect(server.refused()).toEqual([]);
    const results = server
      .requests()
      .at(-1)
      ?.filter(({ role }) => role === "tool");
    expect(results?.map(({ content }) => content).join("\n")).toMatch(
      /the user denied this call and says: no packages[^]*exit code 0[^]*tests 2/,
    );
    const block = `$ ${COMMAND}\n${stable(screen, home.project)}`;
    expect(block.trimEnd().split("\n").length).toBeLessThan(MAX_LINES);
    const page = readFileSync(PAGE, "utf8");
    expect(page).toMatch(BLOCK);
    if (WRITES) {
      writeFileSync(
        PAGE,
        page.replace(BLOCK, () => block),
      );
    } else {
      expect(BLOCK.exec(page)?.[0], "run `npm run transcript`").toBe(block);
    }
  },
);

/** The screen with the same folder, times and ids each time. */
function stable(screen: string, folder: string): string {
  return screen
    .replaceAll(folder, "/home/ada/shop")
    .replaceAll(/\d+(\.\d+)?(?=ms\))/g, "0.5")
    .replaceAll(/(?<=duration_ms )\d+(\.\d+)?/g, "98.7")
    .replaceAll(/(?<=exit code 0 after )\d+\.\d(?= s)/g, "0.1")
    .replaceAll(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g, SESSION)
    .replaceAll(/[ \t]+$/gm, "")
    .replace(/\n*$/, "\n");
}

const SESSION = "c0e9a1f2-5b7d-4c36-9f58-2a41d7b3e680";

/** Every name below a folder, with its mode and its bytes or where its link leads. */
function entriesOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();
  return Object.fromEntries(
    names.map((name) => {
      const path = join(folder, name);
      const stat = lstatSync(path);
      const held = stat.isSymbolicLink()
        ? readlinkSync(path)
        : stat.isFile()
          ? readFileSync(path, "base64")
          : "";
      return [name, `${stat.mode.toString(8)} ${held}`];
    }),
  );
}
