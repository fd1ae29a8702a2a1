import { join } from "node:path";

import { expect, it } from "vitest";

import { statementsOf } from "../../helpers/count-statements.ts";
import { SENDS_NOTHING_BY_CLOCK } from "../../helpers/exchanger.ts";
import { hostile, notedIn, openMcp, type WrittenServer } from "../../helpers/mcp.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

it("[MCP-2] ten servers that are not used cost no statement", async () => {
  const file = join(temporaryFolder(), "noted");
  const ten = Array.from({ length: 10 }, (_, at) => [`s${at}`, hostile("sound", file)] as const);
  const sent = async (mcp: Readonly<Record<string, WrittenServer>>) => {
    // its persona names no tool of a server
    const columns = { persona_name: "reviewer" };
    const bench = await openMcp(mcp, { columns, parts: SENDS_NOTHING_BY_CLOCK });
    const { statements, transactions } = await statementsOf(() => bench.run({ text: "go" }));
    return { statements: statements.length, transactions };
  };
  expect(await sent(Object.fromEntries(ten))).toEqual(await sent({}));
  expect(notedIn(file)).toEqual([]);
});
