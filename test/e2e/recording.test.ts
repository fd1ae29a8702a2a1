import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, it } from "vitest";

import { createSandboxProbe } from "../../src/workspace/sandbox/probe.ts";
import { type ModelAnswer, startModelServer } from "../helpers/model-server.ts";
import { freshHome } from "../helpers/reprise.ts";
import { openScreen, type ScreenRun } from "../helpers/screen.ts";
import { type Frame, pictureOf } from "../helpers/screen-picture.ts";
import { CTRL_D } from "../helpers/terminal.ts";

const PICTURE = fileURLToPath(new URL("../../docs/pictures/session.svg", import.meta.url));
/** `npm run recording` sets it: the picture is then written instead of compared. */
const WRITES = process.env["REPRISE_TEST_RECORDING"] === "write";
const MAX_BYTES = 150_000;
const SIZE = { columns: 80, rows: 28 };

const MESSAGE = "Orders of 100 euros and more get 10 % off. What do ours cost then?";

/** The folder that the agent works on. */
const FILES = {
  "orders.json":
    '[{ "id": 17, "cents": 8000 }, { "id": 18, "cents": 9900 }, { "id": 19, "cents": 12500 }]\n',
  "total.js": `/** What an order costs, in cents. */
export function total(prices) {
  return prices.reduce((sum, price) => sum + price, 0);
}
`,
};

const TABLE = `Only order **19** gets cheaper:

| Order | Before | Now |
|---|---:|---:|
| 17 | 80.00 € | 80.00 € |
| 18 | 99.00 € | 99.00 € |
| 19 | 125.00 € | **112.50 €** |

The discount is in \`total.js\`.`;

/** What the model answers, in turn. */
const ANSWERS: readonly ModelAnswer[] = [
  calls(["read_file", { path: "total.js" }], ["read_file", { path: "orders.json" }]),
  {
    content: "A tenth of a price can be half a cent, so I round.",
    ...calls([
      "edit_file",
      {
        path: "total.js",
        old_text: "  return prices.reduce((sum, price) => sum + price, 0);\n",
        new_text:
          "  const sum = prices.reduce((all, price) => all + price, 0);\n  return sum < 10_000 ? sum : Math.round(sum * 0.9);\n",
      },
    ]),
  },
  { content: TABLE },
];

function calls(...each: readonly (readonly [string, object])[]): ModelAnswer {
  return {
    toolCalls: each.map(([name, args]) => ({ name, arguments: JSON.stringify(args) })),
  };
}

/** The screen with the same folder, times and ids each time; what is replaced is at the end of its row. */
function stable(rows: ScreenRun[][], folder: string): ScreenRun[][] {
  return rows.map((runs) =>
    runs.map((run) => {
      const text = run.text
        .replaceAll(folder, "/home/ada/shop")
        .replace(/^done in .*/, "done in 1 s")
        // a slow call shows how long it took
        .replace(/\d[\d.]* m?s {2}(?=\[)/, "")
        .replace(/(?<=session )[0-9a-f]{8}(?=,)/, "c0e9a1f2");
      return { ...run, text, columns: run.columns + text.length - run.text.length };
    }),
  );
}

const { reason } = await createSandboxProbe()();

it.skipIf(reason !== null)(
  "[DOC-9] the README's picture is what the program shows while it asks with a diff, changes a file and answers with a table",
  async () => {
    let turn = 0;
    const server = await startModelServer({
      answer: () => ANSWERS[turn++] ?? { error: { message: "the script has ended" } },
    });
    const fresh = freshHome(server.env("anthropic"));
    const home = { ...fresh, project: join(fresh.home, "shop") };
    mkdirSync(home.project);
    for (const [name, text] of Object.entries(FILES)) {
      writeFileSync(join(home.project, name), text);
    }
    const frames: Frame[] = [];
    // a known background, and all colours: the picture takes its colours from the theme
    const env = { NO_COLOR: undefined, COLORTERM: "truecolor", COLORFGBG: "15;0" };
    const screen = openScreen(home, "reprise", { ...SIZE, env });
    const keep = (seconds: number): number =>
      frames.push({ rows: stable(screen.runs(), home.project), seconds });

    await screen.until(/^\/ commands [^]*^ask ⇧⇥ · (?=[~/…n]).*sonnet-5-5$/m);
    keep(1.2);
    let typed = "";
    for (const word of MESSAGE.split(/(?<= )/)) {
      screen.type(word);
      typed += word;
      const shown = typed.trimEnd();
      await screen.until((text) => text.includes(`> ${shown}`));
      keep(0.2);
    }
    screen.type("\r");
    await screen.until(/allow once[^]*Esc later · text is a message$[^]*^ask ⇧⇥ · 1 question · /m);
    keep(3.5);
    screen.type("y");
    await screen.until(/^> \[y\] allow once[^]*^ {2}Enter confirms/m);
    keep(1);
    screen.type("\r");
    await screen.until(/is in total\.js[^]*^[a-z]+ ⇧⇥ · (?=[~/…n]).* % of /m);
    keep(4);
    screen.type(CTRL_D);
    expect(await screen.finished).toBe(0);
    expect(readFileSync(join(home.project, "total.js"), "utf8")).toContain("0.9");

    const picture = pictureOf(frames, {
      title: "A session in a terminal",
      description:
        "Somebody asks for a discount on orders. The agent reads two files and asks whether it may change one of them, with the change as a diff. After y and Enter it changes the file and answers with a table of prices. The line below shows the folder, the mode and the model.",
      columns: SIZE.columns,
    });
    expect(Buffer.byteLength(picture)).toBeLessThan(MAX_BYTES);
    if (WRITES) {
      writeFileSync(PICTURE, picture);
    }
    expect(readFileSync(PICTURE, "utf8"), "run `npm run recording`").toBe(picture);
  },
);
