import { describe, expect, it } from "vitest";

import { parseAddress } from "../../src/store/engines/postgres/address.ts";
import { readPostgresUrl, withoutPassword } from "../../src/store/postgres-url.ts";

const ALLOWED = "any, read-write, primary, read-only, standby";

describe("an address of PostgreSQL", () => {
  it.each([
    ["postgres://u:p@one/db", ["one:5432"], "any"],
    ["postgres://u:p@one:1,two:2/db", ["one:1", "two:2"], "read-write"],
    ["postgresql://u:p@one,two/db", ["one:5432", "two:5432"], "read-write"],
    ["postgres://u:p@one,two:2,three/db", ["one:5432", "two:2", "three:5432"], "read-write"],
    ["postgres://u:p@[::1]:1,[fe80::2]/db", ["::1:1", "fe80::2:5432"], "read-write"],
    [
      "postgres://u:p@10.0.0.1,two.example.org:2/db",
      ["10.0.0.1:5432", "two.example.org:2"],
      "read-write",
    ],
    ["postgres://u:p@%2Fvar%2Frun,two/db", ["/var/run:5432", "two:5432"], "read-write"],
    ["POSTGRES://u:p@one,two/db?hints=off", ["one:5432", "two:5432"], "read-write"],
    [" postgres://u:p@one/db?target_session_attrs=primary\n", ["one:5432"], "primary"],
    ["postgres://u:p@one,two/db?target_session_attrs=any", ["one:5432", "two:5432"], "any"],
    ["postgres://u:p@one,two/db?target_session_attrs=standby", ["one:5432", "two:5432"], "standby"],
    ["postgres:///db", ["localhost:5432"], "any"],
  ] as const)("[PG-34] names these servers, and which may be used: %s", (text, hosts, target) => {
    const { servers, target: parsed, database } = parseAddress(text);

    expect(servers.map(({ host, port }) => `${host}:${port}`)).toEqual(hosts);
    expect({ parsed, database }).toEqual({ parsed: target, database: "db" });
  });

  it.each([
    ["postgres://u@one:1,two:2/db", "p%40s,s", ["u", "p@s,s"]],
    ["postgres://u@one:1,two:2/db", "a@b@c,d", ["u", "a@b@c,d"]],
  ] as const)(
    "[PG-34] takes commas of a password for its characters: %s",
    (text, written, read) => {
      const { servers, user, password } = parseAddress(text.replace("u@", `u:${written}@`));

      expect(servers).toEqual([
        { host: "one", port: 1 },
        { host: "two", port: 2 },
      ]);
      expect([user, password]).toEqual(read);
    },
  );

  it.each([
    ["postgres://u:hunter2@one/db", "postgres://u@one/db"],
    ["postgres://u:hunter2@one:1/db?sslmode=require", "postgres://u@one:1/db?sslmode=require"],
    ["postgres://u:hunter2@one:1,two/db?hints=off", "postgres://u@one:1,two/db?hints=off"],
    ["postgresql://u:hunter,2@one,[::1]:2/my%20db", "postgresql://u@one,[::1]:2/my%20db"],
    ["postgres://:hunter2@one,two/db", "postgres://one,two/db"],
    ["postgres://u@one,two/db", "postgres://u@one,two/db"],
  ])("[PG-8] is shown without its password: %s", (text, shown) => {
    expect(withoutPassword(text)).toBe(shown);
  });

  it.each([
    "postgres://u:hunter2@one:99999/db",
    "postgres://u:hunter2@one:1,two:port/db",
    "postgres://u:hunter2@one,,two/db",
    "postgres://u:hunter2@one,/db",
    "postgres://u:hunter2@,one/db",
    "postgres://u:hunter2@on e,two/db",
    // characters of a password that are not escaped, after digits that pass for a port
    "postgres://u:12/hunter2@one/db",
    "postgres://u:12#hunter2@one/db",
    "postgres://u:12?hunter2@one/db",
    "postgres://u:12?hunter2=@one,two/db",
    "postgres://u:hunter2@one/db#more",
    "postgres://u:hunter2@one/db?password=hunter2",
    "host=one,two password=hunter2",
  ])("[PG-8] [PG-24] is refused, and no part of it is shown: %s", (text) => {
    expect(withoutPassword(text)).toBe("postgres://HOST/DATABASE");
    expect(() => parseAddress(text)).toThrow(
      expect.objectContaining({
        code: "config_invalid",
        message: expect.not.stringContaining("hunter2"),
      }),
    );
  });

  it.each(["", "prefer-standby", "readwrite", "toString"])(
    "[PG-24] is refused with what target_session_attrs may be: %s",
    (value) => {
      const text = `postgres://one,two/db?target_session_attrs=${value}`;
      expect(() => parseAddress(text)).toThrow(
        `target_session_attrs in the database URL must be one of ${ALLOWED}.`,
      );
    },
  );

  it("is not the path of a file", () => {
    expect(readPostgresUrl("/home/me/postgres.db")).toBeNull();
  });
});
