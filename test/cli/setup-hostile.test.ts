import { existsSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { freshHome } from "../helpers/reprise.ts";
import { openScreen } from "../helpers/screen.ts";
import { testLevel } from "../helpers/size.ts";

const KEY = "sk-canary-0123456789abcdef";
const REASON = `invalid \u001b[31mx-api-key\u001b[0m ${KEY} \u202egnorw ${"very ".repeat(2000)}long`;
const NAMES = [
  "claude-\u001b[31mred",
  "claude-\u202eesrever",
  `claude-${"long".repeat(2500)}`,
  "claude-sonnet-5-5",
  "claude two words",
  `claude-${"x".repeat(150)}`,
];

/** A provider whose names of models and reasons attack a screen; it refuses every key but the second. */
async function hostileProvider() {
  const keys: unknown[] = [];
  const server = createServer((request, response) => {
    request.resume();
    const isList = request.method === "GET";
    if (!isList) {
      keys.push(request.headers["x-api-key"]);
    }
    response.writeHead(isList ? 200 : 401, { "content-type": "application/json" });
    const error = { type: "authentication_error", message: REASON };
    response.end(
      JSON.stringify(isList ? { data: NAMES.map((id) => ({ id, type: "model" })) } : { error }),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, keys };
}

const ESC = "\u001b";
/** The steps at which a person leaves, each with what was typed before. */
const LEAVING = [
  [/Provider \(number or name\):/, "anthropic\r"],
  [/it is not shown\):/, `\u001b[200~${KEY}\n\u001b[201~`],
  [/Model \(number or name\)/, "1\r"],
  [/Number \[/, "5\r"],
] as const;
const SIZES =
  testLevel() === "test"
    ? [[40, 12]]
    : [
        [80, 24],
        [40, 12],
      ];

it.each(SIZES)(
  "[CLI-411] setup at %ix%i shows nothing of a key and of what attacks a screen, and Esc leaves at every step",
  async (columns, rows) => {
    const { url, keys } = await hostileProvider();
    const home = freshHome({ ANTHROPIC_BASE_URL: url });
    for (const leaves of LEAVING.keys()) {
      const screen = openScreen(home, "reprise setup", { columns, rows });
      for (const [step, answer] of LEAVING.slice(0, leaves)) {
        await screen.until(step);
        screen.type(answer);
      }
      await screen.until(LEAVING[leaves]?.[0] ?? /never/);
      screen.type(ESC);
      expect(await screen.finished).toBe(leaves === 3 ? 1 : 2);
      const shown = screen.everything().join("\n");
      expect(shown).toMatch(/^(?:reprise: )?Nothing was kept/m);
      const label = columns < 80 ? "" : "OpenAI service, ";
      expect(shown).toContain(`\n   2.  openai      ${label}needs a key\n`);
      expect(screen.written()).not.toContain("canary");
      expect(screen.written()).not.toContain("\u202e");
      expect(screen.written()).not.toContain("[31m");
      expect(shown).not.toMatch(/(?:long){60}/);
    }
    expect(keys).toEqual([KEY]);
    expect(existsSync(join(home.home, ".config/reprise/config.jsonc"))).toBe(false);
  },
);
