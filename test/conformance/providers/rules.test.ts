import { describe, expect, it } from "vitest";

import { call, reasoning, type Step, text } from "../../helpers/providers/steps.ts";
import { RULED_APIS } from "./apis.ts";
import type { Changing } from "./cases.ts";
import { providerOfTest, send } from "./send.ts";

/** Reasons and reads; answers with a text after the second result. */
function answers(index: number): readonly Step[] {
  return [
    reasoning("Let me read it."),
    ...(index < 2 ? [call("read", { path: "a.txt" })] : [text("It is 7.")]),
  ];
}

describe.each(Object.entries(RULED_APIS))("the mock of %s", (_, api) => {
  const titled = api.cases.map((one) => ({ ...one, title: one.title ?? "a request" }));

  it.each(titled)("accepts a request, and refuses it if it breaks $rule: $title", async (one) => {
    const provider = await providerOfTest(api.provider, answers, one.account);
    const url = `${provider.url}${api.path}`;
    const headers = { ...api.headers("test-key"), ...one.headers };
    const talk = async (body: Changing): Promise<Changing> =>
      (await send(url, body, headers)).answer;
    const body = await one.valid(one.model ?? api.model, talk);
    expect(await send(url, body, headers)).toMatchObject({ status: 200 });
    one.change(body, headers);
    const { status, answer } = await send(url, body, headers);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(answer.error.message ?? answer.error).toMatch(/\S/);
    expect(provider.refusals()).toMatchObject([{ rule: one.rule }]);
  });

  it("has a case and a dated source for each rule", () => {
    const shown = new Set(api.cases.map(({ rule }) => rule));
    expect(api.rules.filter(({ id }) => !shown.has(id))).toEqual([]);
    for (const { source } of api.rules) {
      expect(source).toMatch(/^\S.*, 2026-\d\d-\d\d$/);
    }
  });

  it("forgives only the rules that a test names, and keeps what it forgave", async () => {
    const [one] = api.cases;
    expect(one).toBeDefined();
    const provider = await providerOfTest(api.provider, answers, { forgives: [one?.rule ?? ""] });
    const url = `${provider.url}${api.path}`;
    const headers = api.headers("test-key");
    const body = await one?.valid(api.model, async () => ({}));
    one?.change(body, headers);
    expect(await send(url, body, headers)).toMatchObject({ status: 200 });
    expect(provider.received.at(-1)?.forgiven).toMatchObject([{ rule: one?.rule }]);
    expect(provider.refusals()).toEqual([]);
  });
});
