import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Client } from "../../src/client/client.ts";
import { call, startScriptedProvider, type Step, text } from "./scripted-provider.ts";

/** A phase plan without findings. */
export const PLAN = `runId: 3f2c8a54-6f0e-4f6b-9d43-0b1f3c1e7a90
phaseKey: planning
phases:
  - key: discount
    title: Discount for large orders
    role: assistant
    instructions: Orders of 100 euros and more get 10 % off. Done when its tests pass.
  - key: show-discount
    title: Show the discount
    role: assistant
    instructions: Show the discount in the basket and in the mail.
    depends_on: [discount]
  - key: describe-discount
    title: Describe it for customers
    role: assistant
    instructions: Describe it in the terms of sale, in simple words.
    depends_on: [discount]
  - key: review
    title: Review
    role: reviewer
    instructions: Review all changes for correctness and missing tests.
    depends_on: [show-discount, describe-discount]
`;

const TOTAL = `/** What an order costs, in cents. */
export function total(prices) {
  return prices.reduce((sum, price) => sum + price, 0);
}
`;
const TESTS = `import { equal } from "node:assert/strict";
import { test } from "node:test";
import { total } from "./total.js";

test("adds the prices", () => equal(total([2000, 500]), 2500));
`;

const ANSWER = `Orders of 100 euros and more are now **10 % cheaper**:

| Order | Before | Now |
|---|---:|---:|
| 17 | 80.00 € | 80.00 € |
| 18 | 99.00 € | 99.00 € |
| 19 | 125.00 € | **112.50 €** |

A tenth of a price can be half a cent, so the sum is rounded:

\`\`\`js
const sum = prices.reduce((all, price) => all + price, 0);
return sum < 10_000 ? sum : Math.round(sum * 0.9);
\`\`\`
`;

const CHANGE = call("edit_file", {
  path: "total.js",
  old_text: "  return prices.reduce((sum, price) => sum + price, 0);\n",
  new_text:
    "  const sum = prices.reduce((all, price) => all + price, 0);\n  return sum < 10_000 ? sum : Math.round(sum * 0.9);\n",
});

/** What the model does, in turn, for a message that begins so. */
const SCRIPTS: readonly (readonly [string, readonly (readonly Step[])[]])[] = [
  [
    "Orders of 100 euros",
    [
      [call("read_file", { path: "total.js" }), call("read_file", { path: "total.test.js" })],
      [text("I change the sum, and test it just below and above 100 euros."), CHANGE],
      [text(ANSWER)],
    ],
  ],
  ["Show prices", [[call("read_file", { path: "total.js" })], [CHANGE], [text("Done.")]]],
  ["Why is the list", [[text("I measure each part of it first."), { kind: "stall" }]]],
];

/** The sessions that the pictures show, the oldest first: folder and first message. */
const OTHERS = [
  ["notes", "Which of my notes from October are about hiring?"],
  ["billing", "Is there a test for an invoice without positions?"],
  ["billing", "Move the exchange rates into their own table"],
  ["shop", "Explain how an order gets its number"],
] as const;

/** A model on loopback that plays its part in the sessions of the shop. */
export function startShopModel() {
  return startScriptedProvider("anthropic", (_, body) => {
    const { messages } = JSON.parse(body) as { messages: readonly unknown[] };
    const sent = JSON.stringify(messages);
    const turn = messages.filter((each) => JSON.stringify(each).includes("tool_result")).length;
    const [, steps] = SCRIPTS.find(([beginning]) => sent.includes(beginning)) ?? ["", []];
    return steps[turn] ?? [text("Yes. I have written down what I found.")];
  });
}

/** Folders of somebody who has a shop. */
export function makeFolders(home: string): void {
  for (const folder of ["shop", "billing", "notes"]) {
    mkdirSync(join(home, folder), { recursive: true });
  }
  writeFileSync(join(home, "shop", "total.js"), TOTAL);
  writeFileSync(join(home, "shop", "total.test.js"), TESTS);
}

/** Lets the service answer in all sessions; returns the ids of the ones that are shown. */
export async function fillShop(client: Client, home: string) {
  const begin = async (
    folder: string,
    message: string,
    permission: "ask" | "edits" = "ask",
  ): Promise<string> => {
    const { id } = await client.createSession({
      repo_path: join(home, folder),
      permission,
    });
    for await (const { event } of client.run(id, message)) {
      if (event === "question" || (event === "text" && message.startsWith("Why"))) {
        break;
      }
    }
    return id;
  };
  for (const [folder, message] of OTHERS) {
    await begin(folder, message);
  }
  await begin("shop", "Why is the list of orders slow with 10,000 of them?");
  const question = await begin("shop", "Show prices with the discount");
  const session = await begin(
    "shop",
    "Orders of 100 euros and more get 10 % off. Add that with a test.",
    "edits",
  );
  await client.patchSession(session, { name: "Discount for large orders" });
  return { session, question };
}
