import { describe, expect, it } from "vitest";

import { RULED_APIS } from "./apis.ts";
import type { Changing } from "./cases.ts";
import { send } from "./send.ts";

/** As `anthropic:claude-opus-5-5`; the names before the colon are those of `RULED_APIS`. */
const [name = "", ...model] = (process.env["REPRISE_TEST_REAL"] ?? "").split(":");
const api = RULED_APIS[name];

// costs money, and needs a key: never in CI
describe.skipIf(api === undefined)("the real provider", () => {
  const cases = (api?.cases ?? [])
    .filter(({ account }) => account === undefined)
    .map((one) => ({ ...one, title: one.title ?? "a request" }));

  it.each(cases)("accepts a request, and refuses it if it breaks $rule: $title", async (one) => {
    const { address, path, headers: headersFor, variable } = api ?? expect.fail();
    const headers = { ...headersFor(process.env[variable] ?? ""), ...one.headers };
    const talk = async (body: Changing): Promise<Changing> =>
      (await send(`${address}${path}`, body, headers)).answer;
    const body = await one.valid(one.model ?? model.join(":"), talk);
    expect(await send(`${address}${path}`, body, headers)).toMatchObject({ status: 200 });
    one.change(body, headers);
    const { status } = await send(`${address}${path}`, body, headers);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
  });
});
