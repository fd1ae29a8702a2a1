import { expect, it } from "vitest";

import { openPage } from "../../helpers/page-client.ts";
import { freshHome } from "../../helpers/reprise.ts";
import { seed } from "../../helpers/sessions/seed.ts";

it("[PAGE-12] [PAGE-13] share makes a link that a service of the database takes; tokens lists and ends it and its logins", async () => {
  const home = freshHome();
  const [id = ""] = (await seed(home, {})).map((session) => session.id);
  const service = home.start(["serve", "--port", "0"]);
  const [, url = ""] = await service.waitFor(/^listening on (\S+)\n/);

  const made = await home.call(["share", id, "--url", `${url}/`]);
  const [, path, secret] =
    /^http:\S+:\d+(\/shared\/\S+#share=([\w-]{22}))\n$/.exec(made.stdout) ?? [];
  expect(path).toBe(`/shared/${id}#share=${secret}`);
  expect(made.stdout.startsWith(`${url}/shared/`)).toBe(true);
  expect(made.stderr).toMatch(/^note: Everybody with this address can read/);
  const page = openPage({ url });
  expect((await page.login({ share: secret })).json).toMatchObject({
    role: "visitor",
    session: id,
  });

  const { stdout } = await home.call(["tokens", "list"]);
  expect(stdout).toMatch(/^id +kind +made +last used +expires +session\n/);
  expect(stdout).toMatch(new RegExp(`^\\S{36}  link  .*  ${id}$`, "m"));
  expect(stdout).toMatch(new RegExp(`^\\S{36}  login by link  .*  ${id}$`, "m"));
  expect(stdout).not.toContain(secret);

  const listed = JSON.parse((await home.call(["share", id, "--list", "--json"])).stdout);
  expect(listed).toEqual([
    {
      id: expect.any(String),
      created_at: expect.any(String),
      expires_at: expect.any(String),
      last_used_at: expect.any(String),
    },
  ]);
  const [{ id: share }] = listed as [{ id: string }];
  expect((await home.call(["tokens", "revoke", share])).stdout).toBe(`Ended: ${share}\n`);
  // by another process
  expect(await page.me()).toMatchObject({ role: "guest" });
  const ended = await home.call(["tokens", "list"]);
  expect(ended).toMatchObject({ stdout: "", code: 0 });
  expect(await home.call(["tokens", "revoke", share])).toMatchObject({ code: 3 });
  await service.stop("SIGTERM");
});

it("[PAGE-12] share lists and ends the links of a session, and refuses what it cannot mean", async () => {
  const home = freshHome();
  const [id = ""] = (await seed(home, {})).map((session) => session.id);
  const { stdout } = await home.call(["share", id.slice(0, 8), "--expires", "1", "--json"]);
  const made = JSON.parse(stdout) as { id: string; path: string; url: string; expires_at: string };
  expect(made.url).toBe(`http://127.0.0.1:8787${made.path}`);
  const days = (Date.parse(made.expires_at) - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(0.9);
  expect(days).toBeLessThanOrEqual(1);
  expect((await home.call(["share", id, "--list"])).stdout).toContain(made.id);
  for (const [args, code] of [
    [["share", id, "--revoke", "abcdef"], 2],
    [["share", id, "--revoke", id], 3],
    [["share", "00000000-0000-4000-8000-000000000000"], 3],
    [["share", id, "--list", "--expires", "3"], 2],
    [["share", id, "--expires", "0"], 2],
    [["share", id, "--expires", "366"], 2],
    [["share", id, "--url", "ftp://a"], 2],
    [["share", id, "--url", "http://a/#b"], 2],
    [["tokens", "revoke", "abc"], 2],
  ] as const) {
    const answer = await home.call(args);
    expect(answer.code, args.join(" ")).toBe(code);
    expect(answer.stdout).toBe("");
  }
  expect((await home.call(["share", id, "--revoke", made.id])).code).toBe(0);
  expect((await home.call(["share", id, "--list"])).stdout).toBe("");
});
