import { describe, expect, it } from "vitest";

import { modelConfig } from "../../src/rules/models/config.ts";
import { secretsOfModels } from "../../src/rules/models/secrets-of-models.ts";
import {
  createConceal,
  secretsOfAddress,
  secretsOfEndpoint,
  withEncoded,
} from "../../src/core/secrets.ts";

const KEY = "sk-canary-0123456789abcdefghijklmnopqrstuvwxyz";

describe("a text in which secrets are replaced", () => {
  it("[PERMISSION-70] has their names, however often and beside what they occur", () => {
    const conceal = createConceal([
      { name: "A", value: `${KEY}\n` },
      { name: "B", value: `${KEY}-longer` },
      { name: "C", value: "a.b*c(d)[e]\\f/g" },
    ]);
    expect(conceal(`x${KEY}${KEY}-longer, a.b*c(d)[e]\\f/g; aXbbc`)).toBe("x[A][B], [C]; aXbbc");
    expect(conceal('{"a":"a.b*c(d)[e]\\\\f/g"}')).toBe('{"a":"[C]"}');
    expect(conceal(`?q=${encodeURIComponent("a.b*c(d)[e]\\f/g")}&`)).toBe("?q=[C]&");
    expect(conceal("nothing of it")).toBe("nothing of it");
  });

  it("[PERMISSION-70] has no part of half a secret's length whose end was cut off", () => {
    const conceal = createConceal([{ name: "A", value: KEY }]);
    for (let length = KEY.length / 2; length <= KEY.length; length += 1) {
      expect(conceal(`${KEY.slice(0, length)}… (line cut)`)).toBe("[A]… (line cut)");
    }
    // so much of it many keys share
    expect(conceal(KEY.slice(0, 10))).toBe(KEY.slice(0, 10));
  });

  it("[MCP-131] is made with secrets of any length", () => {
    const long = Array.from({ length: 128 * 1024 }, (_, at) => (at * 7919).toString(36)).join("");
    const conceal = createConceal(withEncoded([{ name: "A", value: long }]));
    expect(conceal(`x${long}y${long.slice(0, -10)}z`)).toBe("x[A]y[A]z");
    const half = long.slice(0, long.length / 2 - 10);
    expect(conceal(half)).toBe(half);
  });

  it("[MCP-131] has no base64 of the secrets of servers, wherever it begins", () => {
    const password = "hunter2-??>>~~ü";
    const conceal = createConceal(withEncoded([{ name: "A", value: password }]));
    for (const [before, after] of [
      ["", ""],
      ["u:", ""],
      ["me:", "\n"],
      ["user:", "!"],
    ]) {
      for (const encoding of ["base64", "base64url"] as const) {
        const shown = conceal(Buffer.from(`${before}${password}${after}`).toString(encoding));
        expect(shown).toContain("[A]");
        // what is left holds a part of one character
        expect(shown.replace("[A]", "").length).toBeLessThan(12);
      }
    }
  });

  it("[MCP-131] has nothing of what a header of the scheme Basic holds", () => {
    const credentials = "ada:correct horse";
    const header = `Basic ${Buffer.from(credentials).toString("base64")}`;
    const conceal = createConceal(withEncoded([{ name: "Authorization", value: header }]));
    expect(conceal(`${header} ${header.slice(6)} ${credentials} correct horse`)).toBe(
      "[Authorization] [Authorization] [Authorization] [Authorization]",
    );
  });

  it("[PERMISSION-70] keeps what is too short to be a secret", () => {
    const conceal = createConceal([
      { name: "A", value: "" },
      { name: "B", value: "1234567" },
      { name: "C", value: "12345678" },
    ]);
    expect(conceal("1234567 12345678 1234567")).toBe("1234567 [C] 1234567");
  });

  it("[PERMISSION-70] is made in one pass, also of a large text that nearly holds secrets", () => {
    const conceal = createConceal([
      { name: "A", value: KEY },
      { name: "B", value: "a".repeat(100) },
    ]);
    const nearly = KEY.slice(0, 20).repeat(10_000);
    expect(conceal(nearly)).toBe(nearly);
    expect(conceal("a".repeat(100_000))).toBe("[B]".repeat(1000));
  });
});

describe("the secrets of Reprise", () => {
  it("[PERMISSION-71] are the keys of the models and the passwords of addresses", () => {
    const config = modelConfig({
      ANTHROPIC_API_KEY: "anthropic-key",
      OPENAI_API_KEY: "openai-key",
      OPENAI_BASE_URL: "https://me:pass%20word@proxy.test/v1",
    });
    const conceal = createConceal(secretsOfModels(config));
    expect(conceal("anthropic-key openai-key pass%20word pass word me proxy.test")).toBe(
      "[ANTHROPIC_API_KEY] [OPENAI_API_KEY] [OPENAI_BASE_URL] [OPENAI_BASE_URL] me proxy.test",
    );
  });

  it("[PERMISSION-71] are not a password that the rest of its address shows", () => {
    const secrets = (address: string) => secretsOfAddress("P", address).map(({ value }) => value);
    expect(secrets("postgres://postgres:postgres@localhost/app")).toEqual([]);
    expect(secrets("postgres://me:localhost@localhost/app")).toEqual([]);
    expect(secrets("postgres://me@localhost/app")).toEqual([]);
    expect(secrets("not an address")).toEqual([]);
    expect(secrets("postgres://me:100%25@localhost/app")).toEqual(["100%25", "100%"]);
  });

  it("[PERMISSION-71] are the user name of a service's address without a password, and parameters that are keys", () => {
    const secrets = (address: string) => secretsOfEndpoint("P", address).map(({ value }) => value);
    expect(secrets("https://sk%2Dmy-key@h.test/v1")).toEqual(["sk%2Dmy-key", "sk-my-key"]);
    expect(secrets("https://me:pass@h.test/v1")).toEqual(["pass", "pass"]);
    expect(secrets("https://h.test/v1?api-key=a%20b&api-version=2026-10-21&code=xyz")).toEqual([
      "a b",
      "xyz",
    ]);
    expect(secrets("https://%zz@h.test/")).toEqual(["%zz", "%zz"]);
    expect(secretsOfEndpoint("P", null)).toEqual([]);
  });
});
