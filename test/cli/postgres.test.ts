import { Client } from "pg";
import { describe, expect, it, onTestFinished } from "vitest";

import { createPostgres } from "../helpers/postgres.ts";
import { startCuttingProxy } from "../helpers/postgres/cutting-proxy.ts";
import { freshHome, type Home } from "../helpers/reprise.ts";
import { startScriptedProvider, text } from "../helpers/scripted-provider.ts";

describe("the program on PostgreSQL", () => {
  it("[CLI-10] [PG-8] remembers between processes, and its command to resume shows no password", async () => {
    const { home, url } = await openHome();
    const begun = await home.run(["-p", "My name is Ada", "--database", url]);
    expect(begun.code).toBe(0);
    const [, hint = ""] = /^Resume with: (reprise .*)$/m.exec(begun.stderr) ?? [];
    expect(hint).toMatch(/^reprise --session \S+ --database postgres:\/\/\w+@[\w.:]+\/\w+$/);

    // libpq's own variable has what the hint leaves out
    const PGPASSWORD = decodeURIComponent(new URL(url).password);
    const resumed = await home.startShell(`${hint} -p 'What is my name?'`, {
      cwd: "/",
      env: { PGPASSWORD },
    }).finished;

    expect(resumed.stdout).toContain("Your name is Ada");
    for (const { stdout, stderr } of [begun, resumed]) {
      expect(stdout + stderr).not.toContain(PGPASSWORD);
      expect(stdout + stderr).not.toContain(new URL(url).password);
    }
  });

  it("[EXCHANGE-41] says how to continue an exchange whose database went away", async () => {
    let shut = (): void => undefined;
    await using provider = await startScriptedProvider("openai", (index) => {
      if (index === 0) {
        shut();
      }
      return [text("the answer")];
    });
    const { home, url } = await openHome(provider.env);
    const proxy = await startCuttingProxy(url);
    shut = proxy.refuseAll;

    const lost = await home.call(["-p", "a question", "--database", proxy.url]);

    expect(lost.code).toBe(1);
    const step =
      "If the exchange had begun, --continue-exchange resumes it. [database_unavailable]";
    expect(lost.stderr).toContain(step);
    const [, id = ""] = /^Resume with: reprise --session (\S+) /m.exec(lost.stderr) ?? [];
    const resume = ["--session", id, "--continue-exchange", "--database", url];
    expect(await home.call(resume)).toMatchObject({ code: 0, stdout: "the answer\n" });
  });

  it("[PG-30] doctor shows a sequence that gives out numbers in blocks", async () => {
    const { home, url } = await openHome();
    const env = { REPRISE_DATABASE: url };
    await home.call(["-p", "first"], { env });
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query("ALTER SEQUENCE checkpoints_id_seq CACHE 20");
    await client.end();

    const { code, stdout } = await home.call(["doctor"], { env });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^failed .*ALTER SEQUENCE checkpoints_id_seq CACHE 1,/m);
  });

  it("[CLI-16] [PROOF-12] [MOVE-3] [MOVE-5] [MOVE-17] lists, verifies, moves sessions; leaves backups to pg_dump", async () => {
    const { home, url } = await openHome();
    const env = { REPRISE_DATABASE: url };
    await home.call(["-p", "first"], { env });
    const [session] = await home.json<{ id: string }[]>(["sessions", "list", "--json"], { env });
    const id = session?.id ?? "";

    expect(await home.json(["sessions", "verify", "--json"], { env })).toMatchObject({
      ok: true,
      sessions: 1,
    });
    expect((await home.call(["doctor"], { env })).code).toBe(0);
    const backup = await home.call(["backup", "copy.db"], { env });
    expect(backup.code).toBe(1);
    expect(backup.stderr).toMatch(/pg_dump.*\[database_unsupported\]/);

    // to a file and back: what one engine wrote, the other reads
    const exported = await home.call(["sessions", "export", id], { env });
    const there = { REPRISE_DATABASE: `${home.project}/there.db` };
    const imported = await home.call(["sessions", "import", "-"], {
      env: there,
      input: exported.stdout,
    });
    expect(imported).toMatchObject({
      code: 0,
      stderr: `note: The agent's tools will read and write files in ${home.project}\n`,
    });
    const back = await home.call(["sessions", "export", id], { env: there });
    expect(withoutMoment(back.stdout)).toBe(withoutMoment(exported.stdout));
    expect((await home.call(["sessions", "delete", id, "--yes"], { env })).code).toBe(0);
    await home.call(["sessions", "import", "-"], { env, input: back.stdout });
    const again = await home.call(["--session", id, "-p", "second"], { env });
    expect(again.code).toBe(0);
    expect(await home.json(["sessions", "verify", id, "--json"], { env })).toMatchObject({
      ok: true,
      messages: 4,
    });
  });

  it("[HTTP-28] [PG-11] serves what a command line stores, and names its database without the password", async () => {
    const { home, url } = await openHome();
    const env = { REPRISE_DATABASE: url };
    const server = home.start(["serve", "--port", "0", "--stream-poll-ms", "60000"], { env });
    const [, address = ""] = await server.waitFor(/^listening on (\S+)$/m);
    const [, shown] = await server.waitFor(/^database (\S+)$/m);
    expect(shown).not.toContain(new URL(url).password);
    const made = await fetch(`${address}/api/sessions`, { method: "POST" });
    const { id } = (await made.json()) as { id: string };
    const stream = await fetch(`${address}/api/sessions/${id}/stream`);

    await home.call(["--session", id, "-p", "hello"], { env });
    await home.call(["sessions", "end", id], { env });

    expect(await stream.text()).toMatch(/^id: 1\n[^]*hello[^]*\nid: 2\n[^]*\[demo\]/);
    await server.stop("SIGTERM");
  });
});

async function openHome(
  env: Readonly<Record<string, string>> = {},
): Promise<{ home: Home; url: string }> {
  const database = await createPostgres();
  onTestFinished(() => database[Symbol.asyncDispose]());
  return { home: freshHome(env), url: database.url };
}

/** An export but for the time at which it was made. */
function withoutMoment(text: string): string {
  return text.replace(/"exported_at":\s*"[^"]*"/, "");
}
